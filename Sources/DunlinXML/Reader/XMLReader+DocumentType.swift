internal import Dunlin

/// The document type declaration (XML 1.0 §2.8): it is skipped, except for entities that it declares.
extension XML.Reader {
    mutating func documentType() throws(XML.Error) {
        guard case .beforeRoot = stage, !hasDocumentType else { throw error(.notWellFormed) }
        hasDocumentType = true
        try expect("<!DOCTYPE")
        guard skipSpace() else { throw error(.notWellFormed) }
        _ = try plainName()
        if skip(":") { _ = try plainName() }
        skipSpace()
        if !isAt("["), !isAt(">") { try externalIdentifier() }
        skipSpace()
        if skip("[") { try internalSubset() }
        skipSpace()
        try expect(">")
    }

    private mutating func externalIdentifier() throws(XML.Error) {
        let isPublic = skip("PUBLIC")
        if !isPublic { try expect("SYSTEM") }
        for _ in 0..<(isPublic ? 2 : 1) {
            guard skipSpace() else { throw error(.notWellFormed) }
            _ = try quoted()
        }
    }

    private mutating func internalSubset() throws(XML.Error) {
        while true {
            skipSpace()
            if skip("]") { return }
            if skip("<!--") {
                _ = try comment()
            } else if isAt("<?") {
                guard try instruction() != nil else { throw error(.notWellFormed) }
            } else if skip("<!ENTITY") {
                try entityDeclaration()
            } else if skip("<!ELEMENT") || skip("<!ATTLIST") || skip("<!NOTATION") {
                try skipDeclaration()
            } else {
                throw error(isAt("%") ? .parameterEntity : position < bytes.count ? .notWellFormed : .endsEarly)
            }
        }
    }

    /// Skips a declaration. Quotes may contain its end mark.
    private mutating func skipDeclaration() throws(XML.Error) {
        while !skip(">") {
            guard position < bytes.count else { throw error(.endsEarly) }
            if isAt("\"") || isAt("'") { _ = try quoted() } else { position += 1 }
        }
    }

    private mutating func entityDeclaration() throws(XML.Error) {
        guard skipSpace() else { throw error(.notWellFormed) }
        let isParameter = skip("%")
        if isParameter, !skipSpace() { throw error(.notWellFormed) }
        let name = try plainName()
        guard skipSpace() else { throw error(.notWellFormed) }
        let entity: EntityTable.Entity
        if isAt("\"") || isAt("'") {
            entity = .text(try entityValue())
        } else {
            try externalIdentifier()
            if skipSpace(), skip("NDATA") {
                guard skipSpace() else { throw error(.notWellFormed) }
                _ = try plainName()
            }
            entity = .external
        }
        skipSpace()
        try expect(">")
        if !isParameter { entities.declare(name, entity) }
    }

    /// Reads an entity's value. Character references are resolved now, others where the entity is used (§4.4).
    private mutating func entityValue() throws(XML.Error) -> String {
        let quote = bytes[position]
        position += 1
        var value: [UInt8] = []
        while position < bytes.count {
            let byte = bytes[position]
            if byte == UInt8(ascii: "%") { throw error(.parameterEntity) }
            if byte == quote {
                position += 1
                return Self.lines(value[...])
            }
            if skip("&#") {
                value += Array(String(try character()).utf8)
            } else {
                value.append(byte)
                position += 1
            }
        }
        throw error(.endsEarly)
    }
}
