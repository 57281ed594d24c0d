import type { BackupSettings } from './settings.ts'

/** The bucket of an `s3://` backup, and the prefix of its objects, without slashes at its ends. */
export function bucketOf({ replicaUrl, endpoint, region, credentials, passedOn }: BackupSettings): {
  client: Bun.S3Client
  prefix: string
} {
  const { hostname: bucket, pathname } = new URL(replicaUrl)
  const client = new Bun.S3Client({
    bucket,
    ...optional('endpoint', endpoint),
    ...optional('region', region ?? undefined),
    ...optional('accessKeyId', credentials.accessKeyId ?? passedOn['AWS_ACCESS_KEY_ID']),
    ...optional('secretAccessKey', credentials.secretAccessKey ?? passedOn['AWS_SECRET_ACCESS_KEY']),
    ...optional('sessionToken', credentials.accessKeyId === null ? passedOn['AWS_SESSION_TOKEN'] : undefined),
  })
  return { client, prefix: pathname.replace(/^\/+|\/+$/g, '') }
}

const optional = <Name extends string>(name: Name, value: string | undefined): { [name in Name]?: string } =>
  value === undefined || value === '' ? {} : ({ [name]: value } as { [name in Name]?: string })
