/** What the platform does with `owner=Any`. Without it, it shows no messages of the queue. */
export type OwnerParameter = 'honoured' | 'refused' | 'ignored'

export interface QueueProxy extends AsyncDisposable {
  url: string
  /** How it treats `owner`. Default `honoured`. */
  owner: OwnerParameter
  /** The status with which it refuses `owner`. Default 400. */
  refusal: keyof typeof REFUSALS
  /** Whether the list of numbers says that the number is a call queue's. Default true. */
  listsOwner: boolean
  /** How many listings of messages asked with `owner`, and without. */
  listings: { withOwner: number; without: number }
}

const QUEUE = { extensionId: '62498880016', extensionType: 'Department', name: 'Sales' }

/**
 * A proxy in front of a simulator that knows no call queues. It makes one of its numbers a queue's: its messages are not in the store of
 * the extension that sends them, as RingCentral documents it.
 */
export function startQueueProxy(target: string, queueNumber: string): QueueProxy {
  const proxy = {
    owner: 'honoured' as OwnerParameter,
    refusal: 400 as keyof typeof REFUSALS,
    listsOwner: true,
    listings: { withOwner: 0, without: 0 },
  }
  const isOfQueue = ({ direction, from, to }: Message): boolean =>
    (direction === 'Outbound' ? [from] : to).some(({ phoneNumber }) => phoneNumber === queueNumber)

  const listMessages = async (url: URL, request: Request): Promise<Response> => {
    const owner = url.searchParams.get('owner')
    proxy.listings[owner === null ? 'without' : 'withOwner']++
    if (owner !== null && proxy.owner === 'refused')
      return Response.json(REFUSALS[proxy.refusal], { status: proxy.refusal })
    url.searchParams.delete('owner')
    const isShown = owner === 'Any' && proxy.owner === 'honoured'
    return changed<List<Message>>(await fetch(url, request), ({ records, ...list }) => ({
      ...list,
      records: records.filter((record) => isShown || !isOfQueue(record)),
    }))
  }

  const listNumbers = async (url: URL, request: Request): Promise<Response> =>
    changed<List<{ phoneNumber: string }>>(await fetch(url, request), ({ records, ...list }) => ({
      ...list,
      records: records.map(({ ...number }) => ({
        ...number,
        extension:
          number.phoneNumber === queueNumber && proxy.listsOwner ? { id: Number(QUEUE.extensionId) } : undefined,
      })),
    }))

  const sendSms = async (url: URL, request: Request): Promise<Response> =>
    changed<Message>(await fetch(url, request), (message) =>
      isOfQueue(message) ? { ...message, owner: QUEUE } : message,
    )

  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    fetch(request) {
      const url = new URL(request.url)
      const there = new URL(`${url.pathname}${url.search}`, target)
      const forwarded = new Request(request, { redirect: 'manual', decompress: false } as RequestInit)
      if (request.method === 'GET' && url.pathname.endsWith('/message-store')) return listMessages(there, forwarded)
      if (request.method === 'GET' && url.pathname.endsWith('/phone-number')) return listNumbers(there, forwarded)
      if (url.pathname.endsWith('/sms')) return sendSms(there, forwarded)
      return fetch(there, forwarded)
    },
    error: () => new Response('<h1>502</h1>', { status: 502, headers: { 'content-type': 'text/html' } }),
  })
  const url = `http://127.0.0.1:${server.port}`
  return Object.assign(proxy, { url, [Symbol.asyncDispose]: () => server.stop(true) })
}

interface Party {
  phoneNumber?: string
}

interface Message {
  direction: string
  from: Party
  to: Party[]
}

interface List<T> {
  records: T[]
}

const errorOf = (errorCode: string, message: string) => ({ errorCode, message, errors: [{ errorCode, message }] })

const REFUSALS = {
  400: errorOf('CMN-101', 'Parameter [owner] value is invalid.'),
  403: errorOf('CMN-109', 'Feature not available.'),
}

/** The answer with another body, if it is a success. */
async function changed<T>(answer: Response, change: (body: T) => unknown): Promise<Response> {
  if (!answer.ok) return answer
  const headers = new Headers(answer.headers)
  headers.delete('content-length')
  return Response.json(change((await answer.json()) as T), { status: answer.status, headers })
}
