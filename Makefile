# make demo   sets up and runs the FDPA fairness lab; then builds the programs that it did not need
# make onos   sets up and runs the same lab with FDPA, first under the Python controller, then under ONOS
# make virtual  builds the Linux kernel of --hosts kernel from Debian's sources, once (five minutes; not part of make test)
# make test   sets up and runs every test and lint
# make bench  measures how fast the switch is, PARTS="tables p4runtime" only that: docs/performance.md
# make soak   sixteen switches under traffic for ten minutes, while links and controllers fail; MINUTES=1 is shorter. Needs root
# make fuzz   feeds compiler and switch with changed inputs, a minute for each kind; SECONDS=10 is shorter: switch/fuzz/README.md
# make docker builds the images: docker/README.md
# make docker-test  builds and runs the images without a registry (ten minutes; not part of make test)
# make wheel  builds what users install, into dist/; also make deb, make archive: distribution/README.md
# make playground  builds the lab for a browser tab, static files: build/playground/ (playground/README.md)
# make docs   builds the documentation as one site: build/site/index.html
# make lock   writes the lock files of Python again, with uv; a new version of a package: make lock UPGRADE=PACKAGE
# make audit  looks for known faults of dependencies; needs the internet, cargo-deny and pip-audit
# make anchors  aims the links of all pages to lines of source files again
# make setup  only installs and builds
# make clean  ends what a crashed run left behind; removes build results

# parts of make bench; all unless given
PARTS =
MINUTES = 10
SECONDS = 60
UPGRADE =

.PHONY: demo onos virtual bench soak fuzz test test-lab test-rust test-java test-python test-python-labs test-python-rest test-onos setup clean playground lint lint-rust lint-rest docs anchors docker docker-test lock audit wheel deb archive

demo:
	@./setup.sh demo
	@.venv/bin/p4sched run fdpa_fairness
	@./setup.sh lab

onos:
	@./setup.sh onos
	@.venv/bin/p4sched run fdpa_fairness --schemes fdpa --controller python,onos

virtual:
	@./setup.sh virtual

bench:
	@./setup.sh dev
	@.venv/bin/python -m p4sched.bench $(PARTS)

soak:
	@./setup.sh lab
	@.venv/bin/python -m p4sched.soak --minutes $(MINUTES)

fuzz:
	@./setup.sh lab
	@switch/target/release/p4sched-fuzz --seconds $(SECONDS)

setup:
	@./setup.sh lab

SCHEMA := .venv/bin/check-jsonschema --quiet --builtin-schema vendor.

lint:
	@./setup.sh dev
	@$(MAKE) --no-print-directory lint-rust lint-rest

lint-rust:
	cargo fmt --manifest-path switch/Cargo.toml --all --check -- switch/schedulers/src/*.rs switch/traffic-manager/src/*.rs
	nice cargo clippy --manifest-path switch/Cargo.toml --locked --release --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" nice cargo doc --manifest-path switch/Cargo.toml --locked --release --quiet --no-deps --workspace

lint-rest:
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy
	.venv/bin/hadolint docker/*/Dockerfile
	$(SCHEMA)compose-spec docker/compose*.yaml
	$(SCHEMA)github-workflows .github/workflows/*.yml
	$(SCHEMA)github-issue-config .github/ISSUE_TEMPLATE/config.yml
	$(SCHEMA)github-issue-forms $(filter-out %/config.yml,$(wildcard .github/ISSUE_TEMPLATE/*.yml))
	$(SCHEMA)citation-file-format --force-filetype yaml CITATION.cff

wheel deb archive:
	@./setup.sh dist
	@distribution/build.sh $@

docker:
	@docker/build.sh

playground:
	@playground/build.sh

docker-test:
	@./setup.sh dev
	@docker/test.sh

docs:
	@./setup.sh dev
	RUSTDOCFLAGS="-D warnings" cargo doc --manifest-path switch/Cargo.toml --locked --release --no-deps --workspace
	NO_MKDOCS_2_WARNING=1 .venv/bin/python -m mkdocs build --strict
	.venv/bin/python -m docs.tools.check_site build/site

# without the name of a registry, which uv.lock would have; p4runtime-shell needs another protobuf than the rest
LOCK := uv pip compile --quiet --generate-hashes --no-header --python-version 3.11 $(UPGRADE:%=--upgrade-package %)

lock:
	$(LOCK) --all-extras --group dev pyproject.toml -o requirements.lock
	$(LOCK) --group build -c requirements.lock pyproject.toml -o requirements-lab.lock
	$(LOCK) --group shell -o requirements-shell.lock
	$(LOCK) --group dist -o requirements-dist.lock

# not part of make lint: both ask databases on the internet
audit:
	cargo deny --manifest-path switch/Cargo.toml check
	for lock in requirements*.lock; do pip-audit --require-hashes --disable-pip --requirement $$lock || exit; done

anchors:
	@.venv/bin/python -m docs.tools.links

# crates whose tests also run without compiled pipelines, and all others with a `tests/main.rs`
INTERPRETED := dataplane difftest
COMPILED := $(filter-out $(INTERPRETED),$(patsubst switch/%/tests/main.rs,%,$(wildcard switch/*/tests/main.rs)))

# All at a time, for the lab alone leaves two CPUs half idle: it goes first, and what is nice takes what the lab leaves. The
# output of a command comes when it has ended.
test:
	@./setup.sh dev
	@[ -f build/playground/index.html ] || echo "left out: the playground in Chromium. 'make playground' builds it; then make test tests it"
	@$(MAKE) --no-print-directory --jobs --keep-going --output-sync=line test-lab test-rust test-python test-onos

test-rust: lint-rust
	PROPTEST_RNG_SEED=1 nice cargo test --manifest-path switch/Cargo.toml --locked --release --workspace
	# with --workspace, for with -p alone cargo would build all dependencies once more, with other features
	P4SCHED_INTERPRET=1 nice cargo test --manifest-path switch/Cargo.toml --locked --release --workspace $(COMPILED:%=--exclude p4sched-%) --test tests

test-java:
	mvn --batch-mode --quiet --file controller/onos/pom.xml verify

test-lab:
	flock build/lab .venv/bin/pytest -m machine --ignore-glob "*/test_onos*"

# two processes of about the same length
test-python: test-python-labs test-python-rest

test-python-labs:
	nice .venv/bin/pytest -m "not machine" controller/tests/test_labs*.py

test-python-rest: lint-rest
	nice .venv/bin/pytest -m "not machine" --ignore-glob "*/test_onos*" --ignore-glob "*/test_labs*"

# starts what test-java builds, not beside test-lab
test-onos: test-java
	flock build/lab .venv/bin/pytest controller/tests/test_onos*.py

clean:
	@[ ! -x .venv/bin/p4sched ] || .venv/bin/p4sched clean
	rm -rf build switch/target controller/onos/*/target
