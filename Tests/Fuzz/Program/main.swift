import FuzzAddresses
import FuzzArguments
import FuzzBitmaps
import FuzzBodies
import FuzzCache
import FuzzCacheEntry
import FuzzChallenges
import FuzzContent
import FuzzCookieFiles
import FuzzCookies
import FuzzDisplay
import FuzzDriver
import FuzzEvents
import FuzzGIF
import FuzzHeads
import FuzzImageHeaders
import FuzzInflate
import FuzzJPEG
import FuzzJSON
import FuzzNetlink
import FuzzPNG
import FuzzParameters
import FuzzPropertyLists
import FuzzProxies
import FuzzRequests
import FuzzSecrets
import FuzzSegments
import FuzzTLS
import FuzzTrust
import FuzzTunnels
import FuzzValues
import FuzzWebP
import FuzzWebSocket
import FuzzXML

/// By the names of their folders in Tests/Corpus.
let fuzzers: [String: any Fuzzer.Type] = [
    "addresses": FuzzAddresses.self,
    "arguments": FuzzArguments.self,
    "bodies": FuzzBodies.self,
    "cache": FuzzCache.self,
    "challenges": FuzzChallenges.self,
    "content": FuzzContent.self,
    "cookie-files": FuzzCookieFiles.self, "cookies": FuzzCookies.self,
    "display": FuzzDisplay.self,
    "entry": FuzzCacheEntry.self,
    "events": FuzzEvents.self,
    "heads": FuzzHeads.self,
    "images-bmp": FuzzBitmaps.self,
    "images-gif": FuzzGIF.self,
    "images-headers": FuzzImageHeaders.self,
    "images-jpeg": FuzzJPEG.self,
    "images-png": FuzzPNG.self,
    "images-webp": FuzzWebP.self,
    "inflate": FuzzInflate.self,
    "json": FuzzJSON.self,
    "lists": FuzzPropertyLists.self,
    "netlink": FuzzNetlink.self,
    "parameters": FuzzParameters.self,
    "proxies": FuzzProxies.self,
    "requests": FuzzRequests.self,
    "secrets": FuzzSecrets.self,
    "segments": FuzzSegments.self,
    "tls": FuzzTLS.self,
    "trust": FuzzTrust.self,
    "tunnels": FuzzTunnels.self,
    "values": FuzzValues.self,
    "websocket": FuzzWebSocket.self,
    "xml": FuzzXML.self,
]

FuzzDriver.run(fuzzers)
