/// What `dunlin help` says.
enum Help {
    static let text = """
        dunlin: an HTTP/1.1 client

        usage:
          dunlin get [-i] [--verbose] URL   the response's body on standard output
          dunlin demo                       four requests to a server inside the command,
                                            each with the time its phases took
          dunlin help                       this text
          dunlin version

        options of get:
          -i, --include     status and fields before the body
          -v, --verbose     where the time went, on standard error

        exit codes:
          0   done
          1   the request failed
          2   the arguments make no sense
          3   the server answered with a status other than 2xx
        """
}
