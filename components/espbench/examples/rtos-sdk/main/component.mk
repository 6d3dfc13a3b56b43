# Nothing beyond the defaults: all sources of this folder.
