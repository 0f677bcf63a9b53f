#if HTTPTypes
    public import Dunlin
    public import HTTPTypes

    extension Fields {
        /// Creates the same fields: in order, with names as written and every value by itself.
        ///
        /// A field that must not be indexed (`.disallow`) is marked as sensitive. Throws a `NetworkError` that names
        /// the field if a value cannot be sent as it is: control characters, blanks at an end, or bytes that are not
        /// UTF-8.
        public init(_ fields: HTTPFields) throws {
            try self.init(fields, Refusal.request)
        }

        init(_ fields: HTTPFields, _ refusal: (String) -> NetworkError) throws {
            self.init()
            for field in fields {
                append(
                    name: field.name.rawName, value: try Self.text(of: field, refusal),
                    sensitive: field.indexingStrategy == .disallow)
            }
        }

        private static func text(of field: HTTPField, _ refusal: (String) -> NetworkError) throws -> String {
            try field.withUnsafeBytesOfValue { bytes in
                let name = Refusal.shown(field.name.rawName)
                guard HTTPField.isValidValue(bytes) else {
                    throw refusal("the value of \(name) has control characters, or blanks at an end")
                }
                guard let text = String(validating: bytes, as: UTF8.self) else {
                    throw refusal("the value of \(name) is not UTF-8")
                }
                return text
            }
        }

        /// The same fields with one Cookie: HTTP/2 splits that field, and HTTP/1.1 may not (RFC 9113 §8.2.3).
        var joiningCookies: Fields {
            let cookies = values(of: "cookie")
            guard cookies.count > 1 else { return self }
            var joined = self
            joined["Cookie"] = cookies.joined(separator: "; ")
            return joined
        }
    }

    extension HTTPFields {
        /// Creates the same fields: in order, with names as written and every value by itself.
        ///
        /// `HTTPField` replaces bytes that it does not allow by spaces, and says nothing. So each field is compared
        /// after it was made, and if its value has changed, this throws a `NetworkError` that names it. A name that is
        /// no token is refused too. Marks of sensitive values do not come along.
        public init(_ fields: Fields) throws {
            try self.init(fields, Refusal.request)
        }

        init(_ fields: Fields, _ refusal: (String) -> NetworkError) throws {
            self.init()
            // `HTTPFields` traps on more.
            guard fields.count < Int(UInt16.max) - 1 else { throw refusal("there are too many fields") }
            reserveCapacity(fields.count)
            for (name, value) in fields.raw { append(try HTTPField(name, value, refusal)) }
        }
    }

    extension HTTPField {
        fileprivate init(_ name: Bytes, _ value: Bytes, _ refusal: (String) -> NetworkError) throws {
            let text = String(name)
            guard let name = HTTPField.Name(text) else { throw refusal("\(Refusal.shown(text)) is no name of a field") }
            self.init(name: name, value: value)
            let isSame = withUnsafeBytesOfValue { $0.elementsEqual(value) }
            guard isSame else {
                throw refusal(
                    "the value of \(Refusal.shown(text)) has bytes that `HTTPField` replaces by spaces, or blanks at "
                        + "an end")
            }
        }
    }
#endif
