/** Codes and statuses. Source: Amazon S3 API Reference, "Error Responses"; for a full disk MinIO, which is S3 on a disk. */
const STATUS = {
  AccessDenied: 403,
  AuthorizationHeaderMalformed: 400,
  AuthorizationQueryParametersError: 400,
  BadDigest: 400,
  InvalidAccessKeyId: 403,
  InvalidPart: 400,
  InvalidRange: 416,
  NoSuchBucket: 404,
  NoSuchKey: 404,
  NoSuchUpload: 404,
  NotImplemented: 501,
  PreconditionFailed: 412,
  RequestTimeTooSkewed: 403,
  SignatureDoesNotMatch: 403,
  SlowDown: 503,
  XAmzContentSHA256Mismatch: 400,
  XMinioStorageFull: 507,
} as const

/** A request that the storage refuses. */
export class S3Error extends Error {
  override readonly name = 'S3Error'
  constructor(readonly code: keyof typeof STATUS) {
    super(`The test storage says ${code}`)
  }

  response(): Response {
    const body = `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${this.code}</Code><Message>${this.message}</Message></Error>`
    return new Response(body, { status: STATUS[this.code], headers: { 'content-type': 'application/xml' } })
  }
}
