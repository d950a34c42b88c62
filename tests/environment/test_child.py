from steptime.environment.child import ask


def module(folder, text: str):
    (folder / "planted_child.py").write_text(text)
    return {"PYTHONPATH": str(folder)}


def test_the_last_line_of_a_child_is_its_answer(tmp_path):
    answer = ask(
        "planted_child", [], limit_s=30, environ=module(tmp_path, "print('noise'); print('{\"a\": 1}')")
    )
    assert (answer.state, answer.body) == ("ok", {"a": 1})


def test_a_child_that_fails_leaves_its_error(tmp_path):
    answer = ask(
        "planted_child", [], limit_s=30, environ=module(tmp_path, "raise ImportError('_ARRAY_API not found')")
    )
    assert answer.state == "failed"
    assert b"_ARRAY_API not found" in answer.said


def test_a_child_that_a_signal_kills_has_crashed(tmp_path):
    answer = ask(
        "planted_child",
        [],
        limit_s=30,
        environ=module(tmp_path, "import os, signal; os.kill(os.getpid(), signal.SIGILL)"),
    )
    assert answer.state == "crashed"
    assert b"signal 4" in answer.said


def test_a_child_that_hangs_is_ended(tmp_path):
    assert (
        ask("planted_child", [], limit_s=0.5, environ=module(tmp_path, "import time; time.sleep(60)")).state
        == "timeout"
    )


def test_a_child_that_answers_with_something_else_has_no_answer(tmp_path):
    assert ask("planted_child", [], limit_s=30, environ=module(tmp_path, "print('[1]')")).body == {}
