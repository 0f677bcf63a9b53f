import Testing

@testable import DunlinTypes

/// What servers and programs write as XML, HTML, property lists, forms and lists of names and values.
@Suite struct `Secrets in markup` {
    @Test(arguments: [
        ("<password>x</password><a>y</a>", "<password>***</password><a>y</a>"),
        (#"<wsse:Password Type="t">x</wsse:Password> a"#, "<wsse:Password***</wsse:Password> a"),
        (#"<password value="x"/><a/>"#, "<password***/><a/>"),
        ("<password><![CDATA[</password>x]]></password>y", "<password>***</password>y"),
        ("<password><!-- </password> -->x</password>y", "<password>***</password>y"),
        ("<password><b>x</b></password>y", "<password>***</password>y"),
        ("<password><password>x</password>x</password>y", "<password>***</password>y"),
        ("<passwords><password>x</password>x</passwords>y", "<passwords>***</passwords>y"),
        ("<db.password.main>x</db.password.main>y", "<db.password.main>***</db.password.main>y"),
        ("<password><![CDATA[x", "<password>***"), ("<password a='>'>x", "<password***"),
        ("<password a", "<password***"),
        ("</password>y", "</password>y"), ("<p>Error code: 404</p>", "<p>Error code: 404</p>"),
    ])
    func `an element with a secret name is hidden up to its end tag, attributes and all`(text: String, shown: String) {
        #expect(SecretText.masked(text) == shown)
    }

    @Test(arguments: [
        (
            "<dict><key>user</key><string>ada</string><key>password</key><string>x</string></dict>",
            "<dict><key>user</key><string>ada</string><key>password</key><string>***</string></dict>"
        ),
        ("<key>password</key>\n\t<dict><key>a</key><data>x</data></dict>y", "<key>password</key>\n\t<dict>***</dict>y"),
        ("<key>my password</key><data>x</data>", "<key>my password</key><data>***</data>"),
        ("<key>a</key><true/><key>token</key><true/>", "<key>a</key><true/><key>token</key><true/>"),
        ("<key>a secret</key>", "<key>***</key>"),
        ("<key>secret</key><size>1</size>", "<key>secret</key><size>***</size>"),
        ("<key>password</key><string", "<key>password</key><string***"),
        (
            "<member><name>password</name><value><string>x</string></value></member>",
            "<member><name>password</name><value>***</value></member>"
        ),
        ("<name>a token</name>", "<name>a token</name>"),
        ("<entry><key>password</key><value>x</value></entry>", "<entry><key>password</key><value>***</value></entry>"),
        ("<key>password</key><!-- c --><string>x</string>y", "<key>password</key><!-- c --><string>***</string>y"),
        ("<key><![CDATA[password]]></key><string>x</string>y", "<key><![CDATA[password]]></key><string>***</string>y"),
    ])
    func `the value of a pair of elements is hidden`(text: String, shown: String) {
        #expect(SecretText.masked(text) == shown)
    }

    @Test(arguments: [
        (#"<input type="hidden" name="csrf_token" value="x">y"#, "<***>y"),
        (#"<meta content="x" name='csrf-token'>y"#, "<***>y"),
        (#"<add key="password" value="a>b"/>y"#, "<***>y"),
        (#"<property name="db.password">x</property>y"#, "<***</property>y"),
        (#"<input name="token" value="x"#, "<***"), (#"<a name="top" value="x">"#, #"<a name="top" value="x">"#),
        (
            #"[{"name":"password","value":"x"},{"name":"user","value":"ada"}]"#,
            #"[{***},{"name":"user","value":"ada"}]"#
        ),
        (#"{"value":{"a":"b"},"name": "api_key"}y"#, "{***}y"), (#"{"key":"x","a":1}"#, #"{"key":"***","a":1}"#),
        (#"{"a":{"b":1},"key":"password","value":"x"}"#, "{***}"),
        (#""{\"name\":\"password\",\"value\":\"x\"}""#, #""{***"#), (#"{"name":"password","value":"x"#, "{***"),
        (#"Error (401): "token expired""#, #"Error (401): "token expired""#), (#"/:"token"#, #"/:"token"#),
        (
            #"{"aaaaaaaaaaaaaaaaaaaaa<": 1, "name":"password","value":"x"} name="password""#,
            #"{***} name="password""#
        ),
        (#"<a {" name="token" value="x"> {"name":"token","value":"x"}"#, #"<***"#),
        (#"{"value":"\#(String(repeating: "e", count: 400))","name":"token"}y"#, "{***}y"),
        (#"{"name":"token","note":"\#(String(repeating: "e", count: 400))","value":"x"}y"#, "{***}y"),
        (#"{"value":"x","meta":"}","name":"token"}y"#, "{***}y"),
        (#"{"value":"x","meta":"{","name":"token"}y"#, "{***}y"),
        ("<input type=hidden value=x name=token>y", "<***>y"),
        (#"<input title="a>b" value="x" name="token">y"#, "<***>y"),
        (
            #"{"key":"email","message":"must be valid","value":"bob"}"#,
            #"{"key":"***","message":"must be valid","value":"bob"}"#
        ),
        ("<\(String(repeating: "\u{4E2D}", count: 100)), 1 > 0", "<\(String(repeating: "\u{4E2D}", count: 100))***"),
        (#"{"name":"password","reason":"is too short"}"#, #"{"name":"password","reason":"is too short"}"#),
    ])
    func `a value is hidden whose name is a value beside it`(text: String, shown: String) {
        #expect(SecretText.masked(text) == shown)
    }

    @Test(arguments: [
        (#"{"password hash":"x","a":1}"#, #"{"password hash":"***","a":1}"#),
        (#"{"token.value" : 1}"#, #"{"token.value" : ***}"#),
        (#"{"auth/x":"y"}"#, #"{"auth/x":"***"}"#), (#"{"a":"a token of b"}"#, #"{"a":"a token of b"}"#),
        ("see https://auth.test:80/a", "see https://auth.test:80/a"),
    ])
    func `a key of JSON is secret if a word of it is`(text: String, shown: String) {
        #expect(SecretText.masked(text) == shown)
    }

    @Test(arguments: [
        ("tokens[]=x&a=1", "tokens[]=***&a=1"), ("password[0][a]=x&a=1", "password[0][a]=***&a=1"),
        ("user[password]=x&a=1", "user[password]=***&a=1"), ("user%5Bpin%5D=x&a=1", "user%5Bpin%5D=***&a=1"),
        ("pass%5B%5D=x", "pass%5B%5D=***"), ("credentials.x=y&a=1", "credentials.x=***&a=1"),
        ("a=auth.test&b=1", "a=auth.test&b=1"), ("tokens[1]&a=1", "tokens[1]&a=1"), ("pages[]=1", "pages[]=1"),
    ])
    func `what follows a secret word in a name of a form is part of the name`(text: String, shown: String) {
        #expect(SecretText.masked(text, as: .form) == shown)
    }
}
