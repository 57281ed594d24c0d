import { S3Stub } from '../../test/support/s3-stub.ts'
import { type S3Server, startVersitygw } from './versitygw.ts'

/** A real S3 server; if it cannot be built, the one of the tests. */
export async function startStorage(): Promise<S3Server> {
  const server = await startVersitygw()
  if (server !== null) return server
  const stub = new S3Stub({ pageSize: 1000 })
  return { name: 's3 (stub)', environment: stub.environment(), [Symbol.asyncDispose]: () => stub.goAway() }
}
