"""Cells that students leave beside their answers: each of them alone, in the middle of lesson 01."""

from .honest_notebook import add, insert

QUICK = {"no_python"}
CELLS = {
    "plots": """
        %matplotlib inline
        %config InlineBackend.figure_format = "retina"
        import matplotlib
        import matplotlib.pyplot as plt
        plt.rcParams["figure.figsize"] = (4, 3)
        plt.rcParams.update({"font.size": 9})
        fig, ax = plt.subplots()
        ax.plot([dot(torch.arange(n) * 1.0, torch.ones(n)) for n in range(9)], label="点积")
        plt.savefig("figure.png")
        plt.show()
        """,
    "magics": """
        %time dot(torch.ones(3), torch.ones(3))
        found = %time dot(torch.ones(3), torch.ones(3))
        %timeit -n 2 -r 1 dot(torch.ones(3), torch.ones(3))
        !pip list \\
            --format=freeze
        ?dot
        dot?
        dot??
        %pwd
        %who
        names = !ls -a
        if names:
            !echo {names[0]}
        %load_ext autoreload
        %autoreload 2
        %xmode Minimal
        %precision 3
        """,
    "timed_cell": "%%time\nfor _ in range(3):\n    dot(torch.ones(3), torch.ones(3))",
    "timed_cell_with_options": "%%timeit -n 2 -r 1 a = torch.ones(3)\ndot(a, a)",
    "shell_cell": "%%bash\necho $HOME\nls | head -3",
    "page_cell": "%%html\n<b>see <a href='#top'>above</a></b>",
    "check_again": """
        check("1.1", dot)
        check("1.2", cosine)
        for number, answer in (("1.1", dot), ("1.2", cosine)):
            check(number, answer)
        """,
    "check_of_a_wrong_answer": """
        from course_checks import NotYet, check
        try:
            check("1.1", lambda a, b: (a * b).mean())
        except NotYet as said:
            print(said)
        """,
    "failing_case": """
        from course_checks import failing_case
        case = failing_case()
        print(dot(*case.values()))
        """,
    "an_error": "raise ValueError('left in')",
    "an_unknown_name": "print(dott(1, 2))",
    "a_missing_package": "import a_package_that_is_not_here",
    "no_python": "def dot(a, b)\n    return a b",
    "an_endless_loop_as_comment": "# while True:\n#     dot(a, b)",
    "input": "name = input('your name? ')",
    "much_output": "for number in range(10_000):\n    print(number)",
    "warnings": """
        import logging, sys, warnings
        warnings.warn("a warning")
        print("to stderr", file=sys.stderr)
        logging.getLogger().warning("logged")
        warnings.filterwarnings("ignore")
        """,
    "files": """
        import json, os, pathlib
        os.makedirs("results/figures", exist_ok=True)
        pathlib.Path("results/notes.json").write_text(json.dumps({"done": ["1.1"]}))
        torch.save(torch.ones(3), "results/ones.pt")
        print(torch.load("results/ones.pt"), os.listdir("results"), open("results/notes.json").read())
        """,
    "seeds": """
        import os, random
        import numpy as np
        def seed_everything(seed=42):
            random.seed(seed)
            np.random.seed(seed)
            torch.manual_seed(seed)
            torch.cuda.manual_seed_all(seed)
            os.environ["PYTHONHASHSEED"] = str(seed)
            torch.backends.cudnn.deterministic = True
            torch.backends.cudnn.benchmark = False
        seed_everything()
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        """,
    "double_precision_left_on": "torch.set_default_dtype(torch.float64)",
    "gradients_left_off": "torch.set_grad_enabled(False)",
    "settings": """
        import sys
        import numpy as np
        torch.set_printoptions(precision=2, sci_mode=False, linewidth=200)
        torch.set_num_threads(2)
        torch.use_deterministic_algorithms(True)
        torch.autograd.set_detect_anomaly(True)
        torch.set_float32_matmul_precision("high")
        torch.set_default_device("cpu")
        torch.backends.cuda.matmul.allow_tf32 = True
        np.set_printoptions(precision=3)
        np.seterr(all="raise")
        sys.setrecursionlimit(5000)
        """,
    "paths": """
        import os, sys
        sys.path.append("..")
        sys.path.insert(0, os.path.abspath(os.path.join(os.getcwd(), "..")))
        print(sys.version, sys.executable, torch.__version__)
        if "google.colab" in sys.modules:
            from google.colab import drive
            drive.mount("/content/drive")
        !python --version
        """,
    "converted_magics": """
        get_ipython().run_line_magic("matplotlib", "inline")
        get_ipython().run_line_magic("timeit", "-n 2 -r 1 dot(torch.ones(3), torch.ones(3))")
        get_ipython().system("ls")
        """,
    "looking_at_objects": """
        import inspect
        from types import SimpleNamespace
        options = SimpleNamespace(dim=-1)
        setattr(options, "scale", 2.0)
        print(getattr(options, "scale"), vars(options), dir(dot)[:3], dot.__name__, dot.__doc__)
        print(list(locals())[:3], inspect.signature(cosine), inspect.getsource(dot))
        help(dot)
        """,
    "display": """
        from IPython.display import HTML, Markdown, clear_output, display
        from tqdm.auto import tqdm
        for _ in tqdm(range(3)):
            clear_output(wait=True)
        display(HTML("<b>x</b>"), Markdown("**x**"), torch.ones(2))
        import ipywidgets
        ipywidgets.interact(lambda x: print(x), x=(0, 5))
        """,
    "waiting": """
        import asyncio, threading, time
        await asyncio.sleep(0.01)
        thread = threading.Thread(target=time.sleep, args=(0.01,))
        thread.start()
        thread.join()
        """,
    "loader": """
        from torch.utils.data import DataLoader, TensorDataset
        for (batch,) in DataLoader(TensorDataset(torch.ones(4, 2)), batch_size=2, shuffle=True):
            print(batch.shape)
        """,
    "processes": """
        import multiprocessing
        def square(x):
            return x * x
        with multiprocessing.get_context("fork").Pool(4) as pool:
            print(pool.map(square, range(9)))
        """,
    "much_memory": "large = torch.zeros(100_000_000)\nlarge += 1\nlarger = [0] * 10_000_000",
    "shadowed_names": """
        import functools
        print = functools.partial(print, flush=True)
        list, sum, str, type, dict, id, input, max = [1], 0, "x", int, {}, 7, torch.ones(2), 3
        """,
    "installed": "%pip install -q torch\n!pip install -q a-package-that-is-not-here",
    "elsewhere": "import os\nos.makedirs('deep/er', exist_ok=True)\n%cd deep/er\nos.chdir('..')",
    "settings_of_ipython": """
        from IPython.core.interactiveshell import InteractiveShell
        InteractiveShell.ast_node_interactivity = "all"
        from IPython.core.display import HTML
        %pdb on
        %history
        %whos
        """,
    "slow": "import time\ntime.sleep(2)",
    "a_small_model": """
        model = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Softmax(dim=-1))
        optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
        for _ in range(3):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(torch.ones(2, 3)), torch.tensor([0, 1]))
            loss.backward()
            optimizer.step()
        model.eval()
        """,
    "own_tests": """
        import unittest
        class TestDot(unittest.TestCase):
            def test_example(self):
                self.assertEqual(dot(torch.tensor([2.0, 3.0]), torch.tensor([1.0, 4.0])).item(), 14)
        unittest.main(argv=[""], exit=False)
        """,
    "last_outputs": "dot(torch.ones(2), torch.ones(2))\n_ + 1;\nprint(len(In), len(Out))",
}
LACKS = {"shadowed_names": frozenset({"1.9"})}  # its answer calls sum


for name, text in CELLS.items():
    choices = {"quick": name in QUICK, "lacks": LACKS.get(name, frozenset())}
    add(name, "01", lambda notebook, text=text: insert(notebook, "answer-1-3", text), **choices)
LEFT_ON = {
    "gradients_left_off_in_02": ("02", "torch.set_grad_enabled(False)"),
    "double_precision_left_on_in_08": ("08", "torch.set_default_dtype(torch.float64)"),
    "warnings_as_errors_in_02": ("02", "import warnings\nwarnings.simplefilter('error')"),
    "anomalies_watched_in_05": (
        "05",
        "torch.autograd.set_detect_anomaly(True)\ntorch.use_deterministic_algorithms(True)",
    ),
}
for name, (lesson, text) in LEFT_ON.items():
    place = f"answer-{int(lesson)}-1"
    add(name, lesson, lambda notebook, place=place, text=text: insert(notebook, place, text))
