/// Documents in XML 1.0 with namespaces, as a stream of events or as a tree.
public enum XML {}
