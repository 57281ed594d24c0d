import { createSocket, type RemoteInfo } from 'node:dgram'

/** The answer to a query for one kind of record. */
export type DnsReply = readonly string[] | 'not found' | 'server failure' | 'refused' | 'silence'

export interface DnsZone {
  A?: DnsReply
  AAAA?: DnsReply
}

export interface DnsServer extends AsyncDisposable {
  /** In the form for `DnsClient.setServers`. */
  address: string
  /** The queried names, each with `A` or `AAAA`, in order. */
  asked: string[]
}

/** Starts a DNS server on 127.0.0.1 (RFC 1035). `otherwise` is the answer for names outside `zones`. */
export async function startDnsServer(
  zones: Readonly<Record<string, DnsZone>>,
  otherwise: DnsReply = 'not found',
): Promise<DnsServer> {
  const socket = createSocket('udp4')
  const asked: string[] = []
  socket.on('message', (query: Buffer, { port, address }: RemoteInfo) => {
    const { name, type, end } = questionOf(query)
    asked.push(`${name} ${type}`)
    const zone = zones[name]
    const reply = zone === undefined ? otherwise : (zone[type] ?? [])
    if (reply !== 'silence') socket.send(responseTo(query.subarray(0, end), type, reply), port, address)
  })
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
  return {
    address: `127.0.0.1:${socket.address().port}`,
    asked,
    [Symbol.asyncDispose]: () => new Promise((resolve) => void socket.close(resolve)),
  }
}

type RecordType = 'A' | 'AAAA'

const HEADER_BYTES = 12
const TYPE_NUMBERS: Readonly<Record<RecordType, number>> = { A: 1, AAAA: 28 }
const RESPONSE_CODES: Readonly<Record<string, number>> = { 'server failure': 2, 'not found': 3, refused: 5 }

function questionOf(query: Buffer): { name: string; type: RecordType; end: number } {
  const labels: string[] = []
  let at = HEADER_BYTES
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.subarray(at + 1, at + 1 + length).toString('latin1'))
    at += 1 + length
  }
  const type = query.readUInt16BE(at + 1) === TYPE_NUMBERS.A ? 'A' : 'AAAA'
  return { name: labels.join('.').toLowerCase(), type, end: at + 5 }
}

function responseTo(question: Buffer, type: RecordType, reply: Exclude<DnsReply, 'silence'>): Buffer {
  const records = typeof reply === 'string' ? [] : reply.map((address) => recordOf(type, address))
  const response = Buffer.concat([question, ...records])
  response.writeUInt16BE(0x8180 | (typeof reply === 'string' ? (RESPONSE_CODES[reply] ?? 0) : 0), 2)
  response.writeUInt16BE(records.length, 6)
  // The response has no further sections, although the query may have one (EDNS).
  response.writeUInt32BE(0, 8)
  return response
}

function recordOf(type: RecordType, address: string): Buffer {
  const data = type === 'A' ? Buffer.from(address.split('.').map(Number)) : ipv6Bytes(address)
  const record = Buffer.alloc(HEADER_BYTES)
  record.writeUInt16BE(0xc000 | HEADER_BYTES, 0)
  record.writeUInt16BE(TYPE_NUMBERS[type], 2)
  record.writeUInt16BE(1, 4)
  record.writeUInt32BE(60, 6)
  record.writeUInt16BE(data.length, 10)
  return Buffer.concat([record, data])
}

/** The address must have all eight parts, or one `::` for zeros. */
function ipv6Bytes(address: string): Buffer {
  const [before = '', after = ''] = address.split('::')
  const [head, tail] = [before, after].map((half) => half.split(':').filter(Boolean))
  const zeros = Array.from({ length: 8 - (head?.length ?? 0) - (tail?.length ?? 0) }, () => '0')
  const parts = [...(head ?? []), ...zeros, ...(tail ?? [])].map((part) => Number.parseInt(part, 16))
  return Buffer.from(parts.flatMap((part) => [part >> 8, part & 0xff]))
}
