#if Tracing
    /// Text of programs and peers, made fit for a trace: short, visible, and without what is secret.
    enum SpanText {
        private static let longest = 200
        private static let longestURL = 2048
        private static let longestWord = 64

        /// The text with control characters and the like escaped, up to a limit of scalars.
        static func visible(_ text: String, upTo limit: Int = longest) -> String {
            if text.utf8.count <= limit, text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) { return text }
            var shown = ""
            for (index, scalar) in text.unicodeScalars.enumerated() {
                if index == limit { return shown + "…" }
                if isVisible(scalar) {
                    shown.unicodeScalars.append(scalar)
                } else {
                    shown += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
                }
            }
            return shown
        }

        private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: false
            default: !scalar.properties.isDefaultIgnorableCodePoint
            }
        }

        /// A method, a code or the name of a type.
        static func word(_ text: String) -> String { visible(text, upTo: longestWord) }

        /// A URL in which asterisks stand for secrets, as OpenTelemetry writes it. The value of a path segment's
        /// parameter, such as `;jsessionid=1`, is hidden too, whatever its name. `path` is shown in place of the URL's.
        static func url(_ shown: String, path other: String? = nil) -> String {
            let end = shown.utf8.firstIndex(where: isEndOfPath) ?? shown.endIndex
            let segments = shown[..<end].split(separator: "/", omittingEmptySubsequences: false)
            let rest = shown[end...].replacing("***", with: "REDACTED")
            if let other {
                // The scheme, nothing, and the authority.
                let origin = segments.prefix(3).joined(separator: "/")
                return visible(origin + (other.hasPrefix("/") ? other : "/" + other) + rest, upTo: longestURL)
            }
            let path = segments.map(withoutParameters).joined(separator: "/")
            return visible(path.replacing("***", with: "REDACTED") + rest, upTo: longestURL)
        }

        private static func withoutParameters(_ segment: Substring) -> String {
            segment.split(separator: ";", omittingEmptySubsequences: false).enumerated().map { index, part in
                guard index > 0, let sign = part.firstIndex(of: "=") else { return String(part) }
                return part[...sign] + "REDACTED"
            }.joined(separator: ";")
        }

        /// The path of a template, without the values of segments' parameters.
        static func path(_ path: String) -> String {
            let segments = path[...].split(separator: "/", omittingEmptySubsequences: false)
            return visible(segments.map(withoutParameters).joined(separator: "/"))
        }

        /// A proxy's URL, without what may follow its port.
        static func proxy(_ url: String) -> String {
            guard let slashes = url.utf8.firstRange(of: "://".utf8) else { return "REDACTED" }
            let authority = url.utf8[slashes.upperBound...].prefix { !"/?#".utf8.contains($0) }
            let address = authority.lastIndex(of: UInt8(ascii: "@")).map { authority[$0...].dropFirst() } ?? authority
            return visible(String(url[..<slashes.upperBound]) + String(Substring(address)))
        }

        private static func isEndOfPath(_ byte: UInt8) -> Bool {
            byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
        }
    }
#endif
