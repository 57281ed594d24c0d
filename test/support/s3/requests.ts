import { type Bucket, type PutConditions, type StoredObject, md5 } from './bucket.ts'
import { S3Error } from './errors.ts'

/** A signed request for a bucket (`key` is empty) or one of its objects. */
export interface S3Request {
  method: string
  key: string
  query: URLSearchParams
  headers: Headers
  body: Uint8Array
}

/** How the storage differs from Amazon's. */
export interface S3Behaviour {
  /** The maximum number of names per page. A client may request fewer. Amazon: 1000. */
  pageSize: number
  /** It stores an object regardless of `If-Match` and `If-None-Match`, like storages that do not know them. */
  ignoresConditions?: boolean
  /** Names (folders end with a slash) that a list of this prefix does not have yet. */
  hides?(name: string, prefix: string): boolean
  /** How long after its upload an object is listed. Default 0. */
  listLagMs?: number
  /** The version that reads of an object still answer with; null for the newest. */
  older?(key: string): StoredObject | null
}

/** Answers a request for the bucket. Source: Amazon S3 API Reference, HeadBucket to ListObjectsV2. Errors: an `S3Error`. */
export function answerBucket(bucket: Bucket, request: S3Request, behaviour: S3Behaviour): Response {
  const { method, query } = request
  if (method === 'HEAD') return new Response(null)
  if (method === 'GET' && query.has('location')) return xml('<LocationConstraint/>')
  if (method === 'GET') return list(bucket, query, behaviour)
  if (method === 'POST' && query.has('delete')) return deleteMany(bucket, request)
  throw new S3Error('NotImplemented')
}

/**
 * ListObjects continues after `marker`, ListObjectsV2 (`list-type=2`) after a token. Both are the last name of the
 * previous page.
 */
function list(bucket: Bucket, query: URLSearchParams, behaviour: S3Behaviour): Response {
  const { pageSize, hides = () => false, listLagMs = 0 } = behaviour
  const isV2 = query.get('list-type') === '2'
  const token = query.get('continuation-token')
  const start = query.get(isV2 ? 'start-after' : 'marker') ?? ''
  const prefix = query.get('prefix') ?? ''
  const isListed = (name: string): boolean => !hides(name, prefix)
  const { keys, commonPrefixes, next } = bucket.list({
    prefix,
    delimiter: query.get('delimiter') ?? '',
    after: token === null ? start : Buffer.from(token, 'base64url').toString(),
    limit: Math.min(pageSize, Number(query.get('max-keys') ?? pageSize)),
    storedUntil: Date.now() - listLagMs,
  })
  const token64 = Buffer.from(next ?? '').toString('base64url')
  return xml(`<ListBucketResult>
    <KeyCount>${keys.length + commonPrefixes.length}</KeyCount><IsTruncated>${next !== null}</IsTruncated>
    ${next === null ? '' : element(isV2 ? 'NextContinuationToken' : 'NextMarker', isV2 ? token64 : next)}
    ${keys
      .filter(isListed)
      .map((key) => contents(key, bucket.get(key)))
      .join('')}
    ${commonPrefixes
      .filter(isListed)
      .map((folder) => `<CommonPrefixes>${element('Prefix', folder)}</CommonPrefixes>`)
      .join('')}
  </ListBucketResult>`)
}

const contents = (key: string, { body, etag, modifiedAt }: StoredObject): string =>
  `<Contents>${element('Key', key)}${element('LastModified', modifiedAt.toISOString())}${element('ETag', etag)}${element('Size', String(body.length))}</Contents>`

/** DeleteObjects. A missing key counts as deleted. */
function deleteMany(bucket: Bucket, { headers, body }: S3Request): Response {
  const declared = headers.get('content-md5')
  if (declared !== null && declared !== md5(body).toString('base64')) throw new S3Error('BadDigest')
  const text = new TextDecoder().decode(body)
  const keys = textsOf(text, 'Key')
  for (const key of keys) bucket.delete(key)
  const quiet = text.includes('<Quiet>true</Quiet>')
  const deleted = quiet ? [] : keys.map((key) => `<Deleted>${element('Key', key)}</Deleted>`)
  return xml(`<DeleteResult>${deleted.join('')}</DeleteResult>`)
}

/**
 * Answers a request for an object. Source: Amazon S3 API Reference, GetObject to AbortMultipartUpload. Errors: an
 * `S3Error`.
 */
export function answerObject(bucket: Bucket, request: S3Request, behaviour: S3Behaviour): Response {
  const { method, key, query, headers, body } = request
  if (query.has('uploads') || query.has('uploadId')) return answerUpload(bucket, request)
  switch (method) {
    case 'GET':
      return content(behaviour.older?.(key) ?? bucket.get(key), headers.get('range'))
    case 'HEAD':
      return content(bucket.get(key), null)
    case 'PUT':
      return new Response(null, { headers: { etag: bucket.putIf(conditionsOf(headers, behaviour), key, body).etag } })
    case 'DELETE':
      bucket.delete(key)
      return new Response(null, { status: 204 })
    default:
      throw new S3Error('NotImplemented')
  }
}

const conditionsOf = (headers: Headers, { ignoresConditions = false }: S3Behaviour): PutConditions => ({
  ifMatch: ignoresConditions ? null : headers.get('if-match'),
  ifNoneMatch: ignoresConditions ? null : headers.get('if-none-match'),
})

/** Returns `Range: bytes=FIRST-LAST` or `bytes=FIRST-`, or without a range the complete object. */
function content({ body, etag, modifiedAt }: StoredObject, range: string | null): Response {
  const headers = { etag, 'last-modified': modifiedAt.toUTCString(), 'accept-ranges': 'bytes' }
  if (range === null) return new Response(body, { headers })
  const [, first, last] = /^bytes=(\d+)-(\d*)$/.exec(range) ?? []
  const from = Number(first)
  const to = Math.min(last === '' ? Infinity : Number(last), body.length - 1)
  if (!(from <= to)) throw new S3Error('InvalidRange')
  return new Response(body.slice(from, to + 1), {
    status: 206,
    headers: { ...headers, 'content-range': `bytes ${from}-${to}/${body.length}` },
  })
}

/** A multipart upload: begin, part, complete, abort. */
function answerUpload(bucket: Bucket, { method, key, query, body }: S3Request): Response {
  const id = query.get('uploadId') ?? ''
  if (method === 'POST' && query.has('uploads'))
    return xml(
      `<InitiateMultipartUploadResult>${element('Key', key)}${element('UploadId', bucket.beginUpload())}</InitiateMultipartUploadResult>`,
    )
  if (method === 'PUT')
    return new Response(null, { headers: { etag: bucket.putPart(id, Number(query.get('partNumber')), body) } })
  if (method === 'DELETE') {
    bucket.abortUpload(id)
    return new Response(null, { status: 204 })
  }
  const numbers = textsOf(new TextDecoder().decode(body), 'PartNumber').map(Number)
  const { etag } = bucket.completeUpload(id, key, numbers)
  return xml(
    `<CompleteMultipartUploadResult>${element('Key', key)}${element('ETag', etag)}</CompleteMultipartUploadResult>`,
  )
}

const xml = (body: string): Response =>
  new Response(`<?xml version="1.0" encoding="UTF-8"?>${body}`, { headers: { 'content-type': 'application/xml' } })

const element = (name: string, text: string): string => `<${name}>${Bun.escapeHTML(text)}</${name}>`

/** Returns the text of each element of this name. The keys in use need no other XML. */
const textsOf = (text: string, name: string): string[] =>
  [...text.matchAll(new RegExp(`<${name}>([^<]*)</${name}>`, 'g'))].map(([, inner = '']) => inner)
