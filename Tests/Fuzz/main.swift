import DunlinCodecs

/// What each fuzzer finds wrong with an input, or nil: by the names of their folders in Tests/Corpus.
let fuzzers: [String: Fuzzer] = [
    "addresses": FuzzAddresses.violation,
    "arguments": FuzzArguments.violation,
    "bodies": FuzzBodies.violation,
    "cache": FuzzCache.violation,
    "challenges": FuzzChallenges.violation,
    "content": FuzzContent.violation,
    "cookie-files": FuzzCookieFiles.violation, "cookies": FuzzCookies.violation,
    "display": FuzzDisplay.violation,
    "entry": FuzzCacheEntry.violation,
    "events": FuzzEvents.violation,
    "heads": FuzzHeads.violation,
    "images-bmp": { PictureCheck.violation(of: $0, [.bmp, .ico]) },
    "images-gif": { PictureCheck.violation(of: $0, [.gif]) },
    "images-headers": FuzzImageHeaders.violation,
    "images-jpeg": { PictureCheck.violation(of: $0, [.jpeg]) },
    "images-png": FuzzPNG.violation,
    "images-webp": { PictureCheck.violation(of: $0, [.webp]) },
    "inflate": FuzzInflate.violation,
    "json": FuzzJSON.violation,
    "lists": FuzzPropertyLists.violation,
    "netlink": FuzzNetlink.violation,
    "parameters": FuzzParameters.violation,
    "proxies": FuzzProxies.violation,
    "requests": FuzzRequests.violation,
    "secrets": FuzzSecrets.violation,
    "segments": FuzzSegments.violation,
    "tls": FuzzTLS.violation,
    "trust": FuzzTrust.violation,
    "tunnels": FuzzTunnels.violation,
    "values": FuzzValues.violation,
    "websocket": FuzzWebSocket.violation,
    "xml": FuzzXML.violation,
]

FuzzDriver.run(fuzzers)
