"""Schedulers in folders of their own: the file that describes one, its check, and the page that compares several."""
