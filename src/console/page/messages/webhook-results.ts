import type { DeliveryAttempt } from '../../../client/client.ts'

/** The last attempt of each delivery, of attempts that are oldest first. */
export const lastAttempts = (attempts: readonly DeliveryAttempt[]): DeliveryAttempt[] => [
  ...new Map(attempts.map((attempt) => [attempt.deliveryId, attempt])).values(),
]

/** The last attempts of the deliveries that failed. */
export const failedOf = (attempts: readonly DeliveryAttempt[]): DeliveryAttempt[] =>
  lastAttempts(attempts).filter(({ outcome }) => outcome !== 'success')
