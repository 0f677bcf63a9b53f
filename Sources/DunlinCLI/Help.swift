/// What `dunlin help` says.
enum Help {
    static let text = """
        dunlin: an HTTP/1.1 client

        usage:
          dunlin get [options] URL   the response's body on standard output
          dunlin post [options] URL  the same by another method: also put, patch, delete,
                                     head, options
          dunlin reachability [--watch] [HOST]
                                     whether there is a way to the network, or to a
                                     host, and over what; nothing is sent
          dunlin cache list|clear    what get --cache has stored, or an end of it
          dunlin demo                requests to a server inside the command, each
                                     with the time its phases took, and downloads to
                                     look at
          dunlin help                this text
          dunlin version

        options of get:
          -i, --include     status and fields before the body; with head they are
                            all there is, and shown without it
          -v, --verbose     where the time went, and how the connection was secured,
                            on standard error
          -o, --output FILE the body into this file, which appears when it is whole;
                            a bar on standard error shows how far it is
          --retry N         up to N times again, after a wait, when the connection fails,
                            something takes too long, or the server has no time (408,
                            425, 429, 502, 503, 504)

          --cache           a response that is stored and still fresh is not asked for
                            again; what comes is stored, in ~/.cache/dunlin
          -m, --max-time S  at most so many seconds for all of it

        what get sends:
          -X, --request METHOD
                            instead of GET, or of POST where there is a body
          -H, --header "Name: value"
                            a field; may be given several times
          -d, --data TEXT   a body, as of a form (application/x-www-form-urlencoded);
                            @FILE is a file as it is, @- standard input; several are
                            joined by &
          --json TEXT       a body of JSON, also @FILE or @-; asks for JSON

        what get tells:
          --curl            the request as a command for curl, and sends nothing;
                            secrets are left out
          --show-secrets    with --curl: secrets too, so that the command does the same
          --trace           what goes over the wire, on standard error: connections,
                            heads as they are sent and as they come, sizes; secret
                            fields are left out

        which servers get believes, over https:
          --ca FILE         those of this authority (PEM or DER) as well as the system's;
                            may be given several times
          --pin sha256/...  only one with this public key on its verified path; may be
                            given several times
          --compatible      also one whose certificates lack what verifying does not need,
                            such as key identifiers, though RFC 5280 demands it
          --insecure        every server, whoever it is: anybody on the way can read and
                            change everything

        which way get takes:
          -x, --proxy URL   through this proxy (http, https, socks5, socks5h), also with
                            USER:PASSWORD@; without it as http_proxy, https_proxy,
                            all_proxy and no_proxy say, whose value nobody else sees
          --noproxy LIST    with --proxy: hosts that go straight, as no_proxy is
                            written; alone and "*": no proxy at all
          --proxy-ca FILE   proxies of this authority (PEM or DER) are believed as well
                            as the system's
          --guard public    only to addresses of the public internet, whatever a name
                            stands for and wherever a redirect leads

        who get is, to a server that asks:
          -u, --user NAME:PASSWORD
                            by Digest or Basic, as the server asks; without
                            :PASSWORD the terminal asks for it, which is better: others
                            can see the arguments of a program
          --digest          with --user: by Digest alone, so that neither the server nor
                            anybody on the way gets the password itself
          --bearer TOKEN    this token, also @FILE or @-
          --cert FILE       a certificate and those above it (PEM)
          --key FILE        its private key (PEM), if that is not in the same file

        exit codes:
          0   done
          1   the request failed, or there is no way
          2   the arguments make no sense
          3   the server answered with a status other than 2xx
        """
}
