import signal

pytest_plugins = ["pytester"]

# What a script starts in the background ignores Ctrl-C, and under nohup a terminal that closes,
# too; and so would all that the tests start.
for _number, _usual in (
    (signal.SIGINT, signal.default_int_handler),
    (signal.SIGHUP, signal.SIG_DFL),
):
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, _usual)
