/// Dictionaries whose keys are data, not names of a program's: they are read and written as they are.
protocol StringKeyed {}

extension Dictionary: StringKeyed where Key == String {}
