"""The dump of the first differing bytes."""

from rdma_reports.hexdump import dump, memory_differences


def test_the_first_differing_byte_is_marked():
    text = dump("region", [[0, 4, "80818283"]], [[0, 2, "8081"], [17, 1, "ff"]])
    assert text.splitlines() == [
        "region: 3 bytes differ, the first at offset 2",
        "  +0000000  expected  80 81 82 83 .. .. .. .. .. .. .. .. .. .. .. ..",
        "  +0000000  observed  80 81 .. .. .. .. .. .. .. .. .. .. .. .. .. ..",
        "                            ^^ ^^",
        "  +0000010  expected  .. .. .. .. .. .. .. .. .. .. .. .. .. .. .. ..",
        "  +0000010  observed  .. ff .. .. .. .. .. .. .. .. .. .. .. .. .. ..",
        "                         ^^",
        "  .. as before the operation, ## in a run kept as a digest",
    ]


def test_a_byte_before_the_region_has_a_negative_offset():
    text = dump("region", [], [[-1, 1, "ff"]])
    assert "first at offset -1" in text
    assert "  -0000010  observed" in text


def test_of_a_digest_is_known_only_where_it_lies():
    assert "1 bytes differ, the first at offset 64" in dump(
        "region", [[0, 64, "80" * 64]], [[0, 65, "sha256:ab"]]
    )
    assert "no single byte is known to differ" in dump(
        "region", [[0, 99, "sha256:aa"]], [[0, 99, "sha256:bb"]]
    )


def test_only_memory_is_dumped():
    differences = [
        {"fact": "requester", "allowed": ["SUCCESS"], "observed": "REM_OP_ERR"},
        {"fact": "region", "allowed": [[]], "observed": "not observed"},
        {"fact": "local", "allowed": [[]], "observed": [[0, 1, "ff"]]},
    ]
    assert memory_differences(differences).startswith("local: 1 bytes differ")
    assert memory_differences(differences[:2]) == ""


def test_of_a_prefix_the_bytes_that_are_missing_do_not_differ():
    allowed = [{"any prefix of": [[0, 4, "80818283"]]}]
    difference = {"fact": "region", "allowed": allowed, "observed": [[0, 3, "8081ff"]]}
    assert "1 bytes differ, the first at offset 2" in memory_differences([difference])
