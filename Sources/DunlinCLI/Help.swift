/// What `dunlin help` says.
enum Help {
    static let text = """
        dunlin: an HTTP/1.1 client

        usage:
          dunlin get [options] URL   the response's body on standard output
          dunlin reachability [--watch] [HOST]
                                     whether there is a way to the network, or to a
                                     host, and over what; nothing is sent
          dunlin demo                requests to a server inside the command, each
                                     with the time its phases took, and downloads to
                                     look at
          dunlin help                this text
          dunlin version

        options of get:
          -i, --include     status and fields before the body
          -v, --verbose     where the time went, and how the connection was secured,
                            on standard error
          -o, --output FILE the body into this file, which appears when it is whole;
                            a bar on standard error shows how far it is
          --retry N         up to N times again, after a wait, when the connection fails,
                            something takes too long, or the server has no time (408,
                            425, 429, 502, 503, 504)

        which servers get believes, over https:
          --ca FILE         those of this authority (PEM or DER) as well as the system's;
                            may be given several times
          --pin sha256/...  only one with this public key on its verified path; may be
                            given several times
          --insecure        every server, whoever it is: anybody on the way can read and
                            change everything

        who get is, to a server that asks:
          --cert FILE       a certificate and those above it (PEM)
          --key FILE        its private key (PEM), if that is not in the same file

        exit codes:
          0   done
          1   the request failed, or there is no way
          2   the arguments make no sense
          3   the server answered with a status other than 2xx
        """
}
