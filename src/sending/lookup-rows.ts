/**
 * SQL that creates lookup jobs. `select` reads `extension_id`, `tenant_id`, `due_at` and `created_at` of extensions, one row each.
 * An extension that has such a job is left out.
 */
export const ensureLookups = (
  select: string,
): string => `INSERT INTO jobs (id, kind, lane, tenant_id, subject, due_at, created_at)
  SELECT 'job_' || lower(hex(randomblob(8))), 'lookup', extension_id, tenant_id, extension_id, due_at, created_at FROM (${select}) AS wanted
  WHERE NOT EXISTS (SELECT 1 FROM jobs WHERE kind = 'lookup' AND lane = wanted.extension_id AND tenant_id = wanted.tenant_id)`
