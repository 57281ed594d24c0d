/** Spellings that must not be registered in production, by what is wrong with them. */
export const HOSTILE_URLS: Readonly<Record<string, readonly string[]>> = {
  loopback: hosts(
    '127.0.0.1', '127.0.0.2', '127.255.255.254', '127.1', '127.0.1', '2130706433', '0x7f000001', '0X7F000001', '017700000001',
    '0177.0.0.1', '0177.0.0.01', '0x7f.0.0.1', '0x7f.1', '0x7f.0x0.0x0.0x1', '127.0x0.1', '127.0.0.1.',
    '0x7f.1.', '１２７.0.0.1', '１２７．０．０．１', '①②⑦.⓪.⓪.①', '127。0。0。1', '127｡0｡0｡1', '%31%32%37.0.0.1', '127.0.0.1%2e', '127%2e0%2e0%2e1',
    '00000177.0.0.1', '127.0.0.0x1', '[::1]', '[0:0:0:0:0:0:0:1]', '[0000::0001]', '[::0001]',
  ),
  mapped: hosts(
    '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[::FFFF:7F00:0001]', '[0:0:0:0:0:ffff:127.0.0.1]', '[::ffff:10.0.0.1]', '[::ffff:a00:1]',
    '[::ffff:169.254.169.254]', '[::ffff:a9fe:a9fe]', '[::ffff:0.0.0.0]', '[::ffff:192.168.1.1]', '[::ffff:100.64.0.1]', '[::ffff:224.0.0.1]',
  ),
  carried: hosts(
    '[::127.0.0.1]', '[::7f00:1]', '[::169.254.169.254]', '[::10.0.0.1]', '[::8.8.8.8]', '[::ffff:0:127.0.0.1]', '[::ffff:0:a9fe:a9fe]',
    '[64:ff9b::127.0.0.1]', '[64:ff9b::a9fe:a9fe]', '[64:ff9b::10.0.0.1]', '[64:ff9b::8.8.8.8]', '[64:ff9b:1::7f00:1]', '[2002:7f00:1::]',
    '[2002:a9fe:a9fe::1]', '[2002:a00:1::1]', '[2002:808:808::1]', '[2001:0:a9fe:a9fe::1]', '[2001:0:808:808:0:0:80ff:fffe]', '[2001::1]',
  ),
  unspecified: hosts('0.0.0.0', '0', '0x0', '00', '0.0', '0.0.0.0.', '0.1.2.3', '[::]', '[0::0]', '[0:0:0:0:0:0:0:0]', '０'),
  metadata: hosts(
    '169.254.169.254', '169.254.169.254.', '2852039166', '0xa9fea9fe', '0251.0376.0251.0376', '0xa9.0xfe.0xa9.0xfe', '169.254.43518',
    '169.16689662', '１６９.254.169.254', '①⑥⑨.254.169.254', '169.254.169.253', '169.254.170.2', '169.254.0.1', '[fd00:ec2::254]', '[FD00:EC2::254]', '[fd00:0ec2:0:0:0:0:0:254]',
    '[fd20:ce::254]', '[fd00:42::42]', '100.100.100.200', '192.0.0.192', '168.63.129.16', 'metadata.google.internal', 'instance-data.ec2.internal',
  ),
  linkLocal: hosts('[fe80::1]', '[fe80::a9fe:a9fe]', '[febf::1]', '[fe80::1%25eth0]', '[fe80::1%eth0]', '[::1%25lo]', '[::1%lo]'),
  inside: hosts(
    '10.0.0.1', '10.1', '10.255.255.255', '167772161', '0xa000001', '012.0.0.1', '172.16.0.1', '172.31.255.255', '0xac.16.1', '192.168.0.1',
    '192.168.257', '3232235521', '0300.0250.0.1', '[fc00::1]', '[fd12:3456:789a::1]', '[fdff::1]',
  ),
  special: hosts(
    '100.64.0.1', '100.127.255.255', '192.0.0.1', '192.0.2.1', '192.88.99.1', '198.18.0.1', '198.19.255.255', '198.51.100.7', '203.0.113.9',
    '224.0.0.1', '239.255.255.250', '240.0.0.1', '255.255.255.255', '4294967295', '0xffffffff', '[100::1]', '[2001:db8::1]', '[2001:2::1]',
    '[2001:20::1]', '[3fff::1]', '[5f00::1]', '[fec0::1]', '[ff02::1]', '[ff0e::1]', '[4000::1]', '[200::1]',
  ),
  insideNames: hosts(
    'localhost', 'LOCALHOST', 'LocalHost', 'localhost.', 'localhost。', 'ⓛocalhost', 'loc%61lhost', '%6c%6f%63%61%6c%68%6f%73%74', 'foo.localhost',
    'foo.localhost.', 'printer.local', 'PRINTER.LOCAL.', 'db.internal', 'api.corp.internal', 'home.arpa', 'nas.home.arpa', 'intranet', 'redis',
    'kubernetes.default.svc.cluster.local', 'com', 'com.',
  ),
  ports: ['0', '1', '22', '23', '25', '53', '110', '389', '445', '636', '1023', '65536', '-1', '4 43', '443x'].map((port) => `https://hooks.example.com:${port}/`),
  schemes: [
    'http://hooks.example.com/', 'HTTP://hooks.example.com/', 'ftp://hooks.example.com/', 'file:///etc/passwd', 'file://hooks.example.com/x',
    'gopher://hooks.example.com:70/', 'data:text/plain,x', 'javascript:alert(1)', 's3://bucket/key', 'unix:///var/run/docker.sock', 'ws://hooks.example.com/',
    'wss://hooks.example.com/', 'blob:https://hooks.example.com/x', 'dict://hooks.example.com:11211/', 'ldap://hooks.example.com/', '//hooks.example.com/',
    'https:hooks.example.com', 'https:/hooks.example.com', 'https:///hooks.example.com', 'https:////hooks.example.com', '/hook', 'hooks.example.com',
    'https', 'https:', 'https://', '', ' ', 'null', 'view-source:https://hooks.example.com/',
  ],
  userInfo: [
    'https://user@hooks.example.com/', 'https://user:pass@hooks.example.com/', 'https://:pass@hooks.example.com/', 'https://@hooks.example.com/',
    'https://:@hooks.example.com/', 'https://hooks.example.com@127.0.0.1/', 'https://hooks.example.com%40127.0.0.1/', 'https://hooks.example.com:443@10.0.0.1/',
    'https://a@b@hooks.example.com/', 'https://hooks.example.com&@127.0.0.1/', 'https://127.0.0.1;@hooks.example.com/',
  ],
  parsers: [
    'https://hooks.example.com\\@127.0.0.1/', 'https:\\\\hooks.example.com/', 'https:/\\hooks.example.com/', 'https://hooks.example.com/a\\b',
    ' https://hooks.example.com/', 'https://hooks.example.com/ ', '\thttps://hooks.example.com/', 'https://hooks.example.com/\n', 'ht\ntps://hooks.example.com/',
    'https://hooks.exa\tmple.com/', 'https://hooks.example.com/a b', 'https://hooks.example.com/a\r\nHost: x', 'https://hooks.example.com/\0', 'https://hooks.example.com\0.evil.test/',
    'https://hooks.example.com/\u0085', 'https://hooks.example.com/\u00a0', 'https://hooks.example.com/\u2028', 'https://hooks.example.com/\u200b', 'https://hooks.example.com/\u202e',
    '\ufeffhttps://hooks.example.com/', 'https://loc\u00adalhost/', 'https://hooks.example.com/\u007f', 'https://hooks.example.com/\ud800', 'https://hooks%00.example.com/', 'https://hooks%20.example.com/',
    'https://hooks%2f.example.com/', 'https://hooks..example.com/', 'https://.hooks.example.com/', 'https://hooks.example.com../', 'https://127.0.0.1../', 'https://-hooks.example.com/',
    'https://[hooks.example.com]/', 'https://[127.0.0.1]/', 'https://[::1/', 'https://::1/', 'https://1.2.3.4.5/', 'https://256.256.256.256/', 'https://1.2.3.256/', 'https://hooks.example.1/',
    'https://xn--/', 'https://hooks_\u{1F4A9}\u200d.example.com/', `https://${'a'.repeat(64)}.example.com/`, `https://${'a.'.repeat(127)}example.com/`, 'https://hooks.example.com^/', 'https://hooks|.example.com/',
    'https://<hooks>.example.com/', 'https://hooks.example.com{}/', 'https://*.example.com/', 'https://hooks.example.com!/', `https://hooks.example.com/${'a'.repeat(1975)}`,
  ],
}

function hosts(...names: string[]): string[] {
  return names.map((name) => `https://${name}/`)
}
