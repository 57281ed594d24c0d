import { freePort } from './program.ts'
import { Bucket } from './s3/bucket.ts'
import { S3Error } from './s3/errors.ts'
import { type S3Behaviour, type S3Request, answerBucket, answerObject } from './s3/requests.ts'
import { type S3Credentials, verifySignature } from './s3/signature.ts'

/** The fault of every request, until it is set to `none`. */
export type S3Fault =
  | 'none'
  /** A 503 SlowDown of Amazon. The request is not performed. */
  | 'slow down'
  /** A 507 of MinIO for every upload. */
  | 'full'
  /** A 403, as for a key that was withdrawn. */
  | 'refuse'
  /** No answer, until the fault is another one. Then the request is performed. */
  | 'hang'
  /** The request is performed, but the connection breaks before the answer. */
  | 'answer lost'

/**
 * S3-compatible object storage in memory, with the requests that Litestream and a standby make: 0.3 lists by ListObjects, 0.5
 * by ListObjectsV2; a lease is written with `If-Match`. A request that begins after another one was answered sees its effect.
 * Addresses are path-style: `http://HOST/BUCKET/KEY`. Every request must be signed, by a header or in its query. Source:
 * Amazon S3 API Reference.
 */
export class S3Stub implements AsyncDisposable {
  readonly name = 'backups'
  readonly bucket: Bucket
  readonly credentials: S3Credentials
  fault: S3Fault = 'none'
  /** The code of each refusal, in order. */
  readonly refusals: string[] = []
  answersLost = 0
  /** How many requests wait for the end of the fault `hang`. */
  hanging = 0
  /** Between a request and its answer. Half of it passes before the request is performed. */
  delayMs = 0
  /** Which requests fail as by the fault `slow down`. */
  loses: (request: Request) => boolean = () => false
  /** Which requests are refused, as without permission. */
  refuses: (request: Request) => boolean = () => false
  /** How far its clock is ahead of this machine's. */
  aheadMs = 0
  /** The same for requests to `localhost`, by which one of several machines can be known. */
  aheadOfLocalhostMs: number | null = null
  readonly #port = freePort()
  readonly url = `http://127.0.0.1:${this.#port}`
  #server: Bun.Server<undefined> | null

  /** By default pages have one entry, so that clients must read several. `same`: another address of its bucket, with faults of its own. */
  constructor(
    readonly behaviour: S3Behaviour = { pageSize: 1 },
    same?: S3Stub,
  ) {
    this.bucket = same?.bucket ?? new Bucket()
    this.credentials = same?.credentials ?? {
      accessKeyId: 'AKIDOFTHENIGHT',
      secretAccessKey: crypto.getRandomValues(new Uint8Array(30)).toBase64(),
      region: 'test-north-1',
    }
    this.#server = this.#listen()
  }

  /** The variables that an operator sets for a backup to this storage. */
  environment(): Record<string, string> {
    return {
      LITESTREAM_REPLICA_URL: `s3://${this.name}/sgw`,
      LITESTREAM_ENDPOINT: this.url,
      LITESTREAM_REGION: this.credentials.region,
      LITESTREAM_ACCESS_KEY_ID: this.credentials.accessKeyId,
      LITESTREAM_SECRET_ACCESS_KEY: this.credentials.secretAccessKey,
    }
  }

  /** Stops listening. Connections are closed and refused. */
  async goAway(): Promise<void> {
    await this.#server?.stop(true)
    this.#server = null
  }

  comeBack(): void {
    this.#server ??= this.#listen()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.goAway()
  }

  #listen(): Bun.Server<undefined> {
    return Bun.serve({
      port: this.#port,
      hostname: '127.0.0.1',
      idleTimeout: 0,
      fetch: async (request) => {
        await this.#pass()
        const response = await this.#answer(request)
        await this.#pass()
        response.headers.set('date', new Date(this.#nowFor(request)).toUTCString())
        return this.fault === 'answer lost' ? this.#loseAnswer() : response
      },
    })
  }

  /** Lets half of the delay pass, and waits while requests hang. */
  async #pass(): Promise<void> {
    if (this.delayMs > 0) await Bun.sleep(this.delayMs / 2)
    this.hanging++
    while (this.fault === 'hang' && this.#server !== null) await Bun.sleep(5)
    this.hanging--
  }

  async #answer(request: Request): Promise<Response> {
    try {
      const body = new Uint8Array(await request.arrayBuffer())
      if (this.fault === 'slow down' || this.loses(request)) throw new S3Error('SlowDown')
      if (this.fault === 'refuse' || this.refuses(request)) throw new S3Error('AccessDenied')
      if (this.fault === 'full' && request.method === 'PUT') throw new S3Error('XMinioStorageFull')
      verifySignature(request, body, this.credentials, this.#nowFor(request))
      return this.#dispatch(request, body)
    } catch (error) {
      if (!(error instanceof S3Error)) throw error
      this.refusals.push(error.code)
      return error.response()
    }
  }

  #nowFor({ url }: Request): number {
    const isLocalhost = new URL(url).hostname === 'localhost'
    return Date.now() + (isLocalhost ? (this.aheadOfLocalhostMs ?? this.aheadMs) : this.aheadMs)
  }

  #dispatch(request: Request, body: Uint8Array): Response {
    const { pathname, searchParams } = new URL(request.url)
    const [, name = '', ...segments] = pathname.split('/').map(decodeURIComponent)
    if (name !== this.name) throw new S3Error('NoSuchBucket')
    const key = segments.join('/')
    const { method, headers } = request
    const asked: S3Request = { method, key, query: searchParams, headers, body }
    return key === ''
      ? answerBucket(this.bucket, asked, this.behaviour)
      : answerObject(this.bucket, asked, this.behaviour)
  }

  /** Breaks all connections, like the restart of a load balancer. */
  async #loseAnswer(): Promise<Response> {
    this.answersLost++
    await this.goAway()
    this.comeBack()
    return new Response(null, { status: 500 })
  }
}
