/// The vocabulary of HTTP that all layers share. A namespace: methods and statuses have names that others use too.
public enum HTTP {}
