import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { S3Error } from './errors.ts'

/** The credentials with which a client signs, for one region. */
export interface S3Credentials {
  accessKeyId: string
  secretAccessKey: string
  region: string
}

/**
 * The parts of `Authorization: AWS4-HMAC-SHA256 Credential=ID/DAY/REGION/s3/aws4_request, SignedHeaders=…,
 * Signature=…`.
 */
interface Authorization {
  accessKeyId: string
  /** YYYYMMDD */
  day: string
  region: string
  /** In lower case, in the order in which they are signed. */
  signedHeaders: string[]
  /** Hexadecimal. */
  signature: string
}

const MAX_SKEW_MS = 15 * 60_000
const HEADER =
  /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/

/**
 * Verifies the signature of a request with its complete body.
 * Source: "Authenticating Requests: Using the Authorization Header (AWS Signature Version 4)", Amazon S3 API Reference.
 * Errors: an `S3Error` with the code that Amazon answers.
 */
export function verifySignature(request: Request, body: Uint8Array, credentials: S3Credentials): void {
  const authorization = parseAuthorization(request.headers.get('authorization'))
  if (authorization.accessKeyId !== credentials.accessKeyId) throw new S3Error('InvalidAccessKeyId')
  if (authorization.region !== credentials.region) throw new S3Error('AuthorizationHeaderMalformed')
  requireSigned(request.headers, authorization)
  verifyTime(request.headers, authorization)
  verifyBody(request.headers, body)
  const expected = signatureOf(request, authorization, credentials.secretAccessKey)
  if (!timingSafeEqual(Buffer.from(expected), Buffer.from(authorization.signature)))
    throw new S3Error('SignatureDoesNotMatch')
}

function parseAuthorization(header: string | null): Authorization {
  if (header === null) throw new S3Error('AccessDenied')
  const [, accessKeyId = '', day = '', region = '', signedHeaders = '', signature = ''] = HEADER.exec(header) ?? []
  if (signature === '') throw new S3Error('AuthorizationHeaderMalformed')
  return { accessKeyId, day, region, signedHeaders: signedHeaders.split(';'), signature }
}

/** The host and every `x-amz-` header must be signed, because an unsigned header could be changed on the way. */
function requireSigned(headers: Headers, { signedHeaders }: Authorization): void {
  const needed = ['host', ...[...headers.keys()].filter((name) => name.startsWith('x-amz-'))]
  if (!needed.every((name) => signedHeaders.includes(name))) throw new S3Error('AccessDenied')
}

/** `x-amz-date` is YYYYMMDD'T'HHMMSS'Z', on the day of the credential's scope. */
function verifyTime(headers: Headers, { day }: Authorization): void {
  const written = headers.get('x-amz-date') ?? ''
  const at = Date.parse(written.replace(/^(....)(..)(..T..)(..)(..Z)$/, '$1-$2-$3:$4:$5'))
  if (!written.startsWith(day) || Number.isNaN(at)) throw new S3Error('AuthorizationHeaderMalformed')
  if (Math.abs(Date.now() - at) > MAX_SKEW_MS) throw new S3Error('RequestTimeTooSkewed')
}

/**
 * Bodies that are signed by chunks (`STREAMING-…`) are not supported, because Litestream does not send them to a custom
 * endpoint.
 */
function verifyBody(headers: Headers, body: Uint8Array): void {
  const declared = headers.get('x-amz-content-sha256') ?? ''
  if (declared.startsWith('STREAMING-')) throw new S3Error('NotImplemented')
  if (declared !== 'UNSIGNED-PAYLOAD' && declared !== sha256(body)) throw new S3Error('XAmzContentSHA256Mismatch')
}

/** Signs the string to sign with the key that is derived from the secret by day, region and service. */
function signatureOf(request: Request, { day, region, signedHeaders }: Authorization, secret: string): string {
  const scope = `${day}/${region}/s3/aws4_request`
  const date = request.headers.get('x-amz-date') ?? ''
  const toSign = ['AWS4-HMAC-SHA256', date, scope, sha256(canonicalRequest(request, signedHeaders))].join('\n')
  const key = [day, region, 's3', 'aws4_request'].reduce<string | Buffer>(hmac, `AWS4${secret}`)
  return hmac(key, toSign).toString('hex')
}

/** Method, path, query, headers, their names and the hash of the body, one per line. */
function canonicalRequest(request: Request, signedHeaders: readonly string[]): string {
  const { pathname, search } = new URL(request.url)
  return [
    request.method,
    pathname.split('/').map(reencode).join('/'),
    canonicalQuery(search),
    ...signedHeaders.map((name) => `${name}:${(request.headers.get(name) ?? '').trim().replaceAll(/ +/g, ' ')}`),
    '',
    signedHeaders.join(';'),
    request.headers.get('x-amz-content-sha256') ?? '',
  ].join('\n')
}

/** Sorts by name. A name without a value gets an empty one. */
function canonicalQuery(search: string): string {
  const parts = search.slice(1).split('&').filter(Boolean)
  const pairs = parts.map((part) => {
    const [name = '', ...value] = part.split('=')
    return `${reencode(name)}=${reencode(value.join('='))}`
  })
  return pairs.toSorted().join('&')
}

/** Amazon's `UriEncode`: everything but letters, digits and `-._~`, in capital hexadecimal. */
function reencode(text: string): string {
  const encoded = encodeURIComponent(decodeURIComponent(text))
  return encoded.replaceAll(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
}

const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest()
const sha256 = (data: string | Uint8Array): string => createHash('sha256').update(data).digest('hex')
