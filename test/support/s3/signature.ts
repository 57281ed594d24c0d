import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { S3Error } from './errors.ts'

/** The credentials with which a client signs, for one region. */
export interface S3Credentials {
  accessKeyId: string
  secretAccessKey: string
  region: string
}

/** What a request declares about its signature: in `Authorization`, or in its query if it is presigned. */
interface Signed {
  accessKeyId: string
  /** YYYYMMDD */
  day: string
  region: string
  /** In lower case, in the order in which they are signed. */
  signedHeaders: string[]
  /** Hexadecimal. */
  signature: string
  /** YYYYMMDD'T'HHMMSS'Z' */
  date: string
  /** How long after `date` it is valid. */
  lifeMs: number
  /** The hash of the body, or `UNSIGNED-PAYLOAD`. */
  payload: string
  /** The query without the signature itself. */
  query: [name: string, value: string][]
}

const MAX_SKEW_MS = 15 * 60_000
const HEADER =
  /^AWS4-HMAC-SHA256 Credential=([^/]+\/\d{8}\/[^/]+\/s3\/aws4_request), ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/
const SCOPE = /^([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request$/
const SIGNATURE = 'X-Amz-Signature'

/**
 * Verifies the signature of a request with its complete body.
 * Source: "Authenticating Requests (AWS Signature Version 4)", Amazon S3 API Reference: by the header and by the query.
 * Errors: an `S3Error` with the code that Amazon answers.
 */
export function verifySignature(request: Request, body: Uint8Array, credentials: S3Credentials, now: number): void {
  const query = [...new URL(request.url).searchParams]
  const isPresigned = query.some(([name]) => name === SIGNATURE)
  const signed = isPresigned ? signedByQuery(query) : signedByHeader(request.headers, query)
  if (signed.accessKeyId !== credentials.accessKeyId) throw new S3Error('InvalidAccessKeyId')
  if (signed.region !== credentials.region) throw new S3Error('AuthorizationHeaderMalformed')
  requireSigned(request.headers, signed)
  verifyTime(signed, now)
  verifyBody(signed, body)
  const expected = signatureOf(request, signed, credentials.secretAccessKey)
  if (!timingSafeEqual(Buffer.from(expected), Buffer.from(signed.signature))) throw new S3Error('SignatureDoesNotMatch')
}

/** `Authorization: AWS4-HMAC-SHA256 Credential=ID/DAY/REGION/s3/aws4_request, SignedHeaders=…, Signature=…`. */
function signedByHeader(headers: Headers, query: Signed['query']): Signed {
  const header = headers.get('authorization')
  if (header === null) throw new S3Error('AccessDenied')
  const [, credential = '', signedHeaders = '', signature = ''] = HEADER.exec(header) ?? []
  return {
    ...scopeOf(credential),
    signedHeaders: signedHeaders.split(';'),
    signature,
    date: headers.get('x-amz-date') ?? '',
    lifeMs: MAX_SKEW_MS,
    payload: headers.get('x-amz-content-sha256') ?? '',
    query,
  }
}

/** The same parts in the query, for anyone who has the address. The body is not signed, and of the headers usually only the host. */
function signedByQuery(query: Signed['query']): Signed {
  const values = new Map(query)
  const seconds = Number(values.get('X-Amz-Expires'))
  const signature = values.get(SIGNATURE) ?? ''
  if (!(seconds >= 1 && seconds <= 604_800) || !/^[0-9a-f]{64}$/.test(signature))
    throw new S3Error('AuthorizationQueryParametersError')
  return {
    ...scopeOf(values.get('X-Amz-Credential') ?? ''),
    signedHeaders: (values.get('X-Amz-SignedHeaders') ?? '').split(';'),
    signature,
    date: values.get('X-Amz-Date') ?? '',
    lifeMs: seconds * 1000,
    payload: 'UNSIGNED-PAYLOAD',
    query: query.filter(([name]) => name !== SIGNATURE),
  }
}

function scopeOf(credential: string): Pick<Signed, 'accessKeyId' | 'day' | 'region'> {
  const [, accessKeyId = '', day = '', region = ''] = SCOPE.exec(credential) ?? []
  if (day === '') throw new S3Error('AuthorizationHeaderMalformed')
  return { accessKeyId, day, region }
}

/** The host and every `x-amz-` header must be signed, because an unsigned header could be changed on the way. */
function requireSigned(headers: Headers, { signedHeaders }: Signed): void {
  const needed = ['host', ...[...headers.keys()].filter((name) => name.startsWith('x-amz-'))]
  if (!needed.every((name) => signedHeaders.includes(name))) throw new S3Error('AccessDenied')
}

/** The date is on the day of the credential's scope. */
function verifyTime({ date, day, lifeMs }: Signed, now: number): void {
  const at = Date.parse(date.replace(/^(....)(..)(..T..)(..)(..Z)$/, '$1-$2-$3:$4:$5'))
  if (!date.startsWith(day) || Number.isNaN(at)) throw new S3Error('AuthorizationHeaderMalformed')
  if (now > at + lifeMs || now < at - MAX_SKEW_MS) throw new S3Error('RequestTimeTooSkewed')
}

/**
 * Bodies that are signed by chunks (`STREAMING-…`) are not supported, because Litestream does not send them to a custom
 * endpoint.
 */
function verifyBody({ payload }: Signed, body: Uint8Array): void {
  if (payload.startsWith('STREAMING-')) throw new S3Error('NotImplemented')
  if (payload !== 'UNSIGNED-PAYLOAD' && payload !== sha256(body)) throw new S3Error('XAmzContentSHA256Mismatch')
}

/** Signs the string to sign with the key that is derived from the secret by day, region and service. */
function signatureOf(request: Request, signed: Signed, secret: string): string {
  const { day, region, date } = signed
  const scope = `${day}/${region}/s3/aws4_request`
  const toSign = ['AWS4-HMAC-SHA256', date, scope, sha256(canonicalRequest(request, signed))].join('\n')
  const key = [day, region, 's3', 'aws4_request'].reduce<string | Buffer>(hmac, `AWS4${secret}`)
  return hmac(key, toSign).toString('hex')
}

/** Method, path, query, headers, their names and the hash of the body, one per line. */
function canonicalRequest({ method, url, headers }: Request, { signedHeaders, payload, query }: Signed): string {
  return [
    method,
    new URL(url).pathname
      .split('/')
      .map((segment) => encode(decodeURIComponent(segment)))
      .join('/'),
    // A name without a value gets an empty one.
    query
      .map(([name, value]) => `${encode(name)}=${encode(value)}`)
      .toSorted()
      .join('&'),
    ...signedHeaders.map((name) => `${name}:${(headers.get(name) ?? '').trim().replaceAll(/ +/g, ' ')}`),
    '',
    signedHeaders.join(';'),
    payload,
  ].join('\n')
}

/** Amazon's `UriEncode`: everything but letters, digits and `-._~`, in capital hexadecimal. */
function encode(text: string): string {
  return encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest()
const sha256 = (data: string | Uint8Array): string => createHash('sha256').update(data).digest('hex')
