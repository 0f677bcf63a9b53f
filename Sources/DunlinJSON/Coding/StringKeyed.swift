/// Marks dictionaries whose keys are data and not names in a program: the keys are read and written unchanged.
protocol StringKeyed {}

extension Dictionary: StringKeyed where Key == String {}
