// Configuration of the Allure 3 report. `rdma-conformance allure` puts what depends on the results
// (name, history file, the devices as environments) into RDMA_ALLURE_SETTINGS as JSON.

const settings = JSON.parse(process.env.RDMA_ALLURE_SETTINGS ?? "{}");

const environments = settings.environments ?? {};

// Groups by requirement: a failure's message differs from case to case.
const category = (name, verdict, more = {}) => ({
  name,
  matchers: { labels: { verdict: `^${verdict}$` } },
  groupBy: [{ label: "requirement" }],
  groupByMessage: false,
  groupEnvironments: Object.keys(environments).length > 1,
  ...more,
});

const environment = ({ name, variables, labels }) => ({
  name,
  variables,
  matcher: (result) =>
    Object.entries(labels).every(
      ([label, value]) =>
        result.labels.some((each) => each.name === label && each.value === value),
    ),
});

export default {
  name: settings.name ?? "RDMA memory registration conformance",
  historyPath: settings.history,
  historyLimit: 30,
  // What the page shows elsewhere, or the same for all.
  hideLabels: ["ALLURE_ID", "epic", "feature", "story", "framework", "language"],
  categories: [
    category("FAIL: not conforming", "FAIL", { expand: true }),
    category("CRASH: kernel or worker died", "CRASH", { expand: true }),
    category("ERROR: could not ask", "ERROR", { expand: true }),
    category("FIXED: delete the deviation", "FIXED", { expand: true }),
    category("DEVIATION: known", "DEVIATION", {
      groupBy: [{ label: "deviation" }, { label: "requirement" }],
    }),
    category("NOT_SUPPORTED: not claimed", "NOT_SUPPORTED", {
      groupByMessage: true,
    }),
    category("NOTE: recorded", "NOTE"),
  ],
  environments: Object.fromEntries(
    Object.entries(environments).map(([id, each]) => [id, environment(each)]),
  ),
  plugins: {
    awesome: {
      options: {
        singleFile: true,
        reportLanguage: "en",
        groupBy: ["parentSuite", "suite", "subSuite"],
      },
    },
    // Allure adds this one unasked.
    agent: { enabled: false },
  },
};
