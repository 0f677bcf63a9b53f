/// A namespace for the vocabulary of HTTP that all layers share; other modules also have methods and statuses.
public enum HTTP {}
