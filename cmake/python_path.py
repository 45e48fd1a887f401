"""While installing: leads this Python to PREFIX/lib/python3/dist-packages, if it looks for packages somewhere else in PREFIX. Usage: python_path.py PREFIX"""
import pathlib
import site
import sys

prefix = pathlib.Path(sys.argv[1]).resolve()
packages = prefix / "lib/python3/dist-packages"
places = [pathlib.Path(place) for place in (*site.getsitepackages(), *([site.getusersitepackages()] if site.ENABLE_USER_SITE else []))]
inside = [place for place in places if prefix in place.resolve().parents]
if str(packages) in sys.path:
    pass
elif inside:
    inside[0].mkdir(parents=True, exist_ok=True)
    (inside[0] / "msda_tune.pth").write_text(f"{packages}\n", encoding="utf-8")
    print(f"Python finds the packages by {inside[0] / 'msda_tune.pth'}")
else:
    print(f"For Python: PYTHONPATH={packages}")
