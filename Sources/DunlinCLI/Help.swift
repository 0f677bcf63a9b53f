/// The text of `dunlin help`.
enum Help {
    static let text = """
        dunlin: an HTTP/1.1 client

        usage:
          dunlin get [options] URL   prints the response's body on standard output
          dunlin post [options] URL  the same by another method: also put, patch, delete,
                                     head, options
          dunlin reachability [--watch] [HOST]
                                     whether the network, or a host, can be reached,
                                     and over what kind of link; nothing is sent
          dunlin cache list|clear    lists or removes what get --cache has stored
          dunlin demo                example requests to a server inside the command,
                                     with the time of each phase, and downloads with
                                     progress bars
          dunlin help                this text
          dunlin version

        options of get, post and the other methods:
          -i, --include     prints the status and the fields before the body;
                            with the method head this is the default
          -v, --verbose     prints where the time went and how the connection was
                            secured, on standard error
          -o, --output FILE writes the body to FILE, which appears when it is
                            complete, with a progress bar on standard error
          --retry N         retries up to N times, after a wait, when the connection
                            fails, a phase takes too long, or the server is busy (408,
                            425, 429, 502, 503, 504); post and patch only if the server
                            has not processed them
          --cache           stores responses in $XDG_CACHE_HOME/dunlin, or in
                            ~/.cache/dunlin, and takes them from there as long as they
                            are fresh
          -m, --max-time S  gives up after S seconds in total

        what get sends:
          -X, --request METHOD
                            the method; without it GET, or POST with a body
          -H, --header "Name: value"
                            adds a field; may be given several times
          -d, --data TEXT   the body, in the format of a form
                            (application/x-www-form-urlencoded); @FILE sends a file as
                            it is, @- standard input; several are joined by &
          --json TEXT       a JSON body, also @FILE or @-; asks for a JSON response

        what get prints:
          --curl            prints the request as a curl command and sends nothing;
                            secrets are left out
          --show-secrets    with --curl: prints secrets too, so that the command works
          --trace           prints what goes over the wire, on standard error:
                            connections, heads as sent and as received, sizes; secret
                            fields are left out

        which servers get trusts, over https:
          --ca FILE         trusts this certificate authority (PEM or DER) as well as
                            the system's; may be given several times
          --pin sha256/...  trusts only servers with this public key in their verified
                            chain; may be given several times
          --compatible      also trusts certificates that break formal rules of
                            RFC 5280, for instance without a key identifier
          --insecure        trusts every server: anybody on the way can read and
                            change everything

        how get connects:
          -x, --proxy URL   sends through this proxy, such as http://HOST:PORT; the
                            scheme may also be https, socks5 or socks5h, and
                            USER:PASSWORD@ may stand before HOST. Without this option
                            the environment's http_proxy, https_proxy, all_proxy and
                            no_proxy decide; other users can see a password in an
                            argument, but not in the environment
          --noproxy LIST    with --proxy: hosts to connect to directly, written as
                            in no_proxy; without --proxy only "*": no proxy at all
          --proxy-ca FILE   trusts proxies of this certificate authority (PEM or DER)
                            as well as the system's
          --guard public    connects only to public addresses, whatever a name
                            resolves to and wherever a redirect leads

        credentials:
          -u, --user NAME:PASSWORD
                            sent only when the server asks, by Digest or Basic;
                            without :PASSWORD the terminal asks for it, which is
                            safer: other users can see the arguments of a program
          --digest          with --user: by Digest only, so that neither the server nor
                            anybody on the way gets the password itself
          --bearer TOKEN    this token, sent with the request at once; also the first
                            line of @FILE or @-
          --cert FILE       the client's certificate, then its intermediates (PEM)
          --key FILE        its private key (PEM), if that is not in the same file

        exit codes:
          0   done
          1   the request failed, or the network or host is not reachable
          2   the arguments are not valid
          3   the server answered with a status other than 2xx
        """
}
