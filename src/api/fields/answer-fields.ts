import { z } from 'zod'
import { APP_ID, MESSAGE_ID, TENANT_ID, TRIGGER_ID } from '../../core/ids.ts'

// Fields that many answers share. Answers are not validated, so patterns and examples only describe.

const textLike = (pattern: RegExp, example: string) => z.string().meta({ pattern: pattern.source, example })

export const messageId = textLike(MESSAGE_ID, 'msg_0123456789ab')
export const appId = textLike(APP_ID, 'app_0123456789abcdef')
export const tenantId = textLike(TENANT_ID, 'tenant_0123456789abcdef')
export const triggerId = textLike(TRIGGER_ID, 'trg_0123456789abcdef')

export const time = z.string().meta({ format: 'date-time', example: '2026-11-21T02:30:00.000Z' })

/** A number of the tenant. Numbers of inbound messages may be short codes, so they have no pattern. */
export const ownNumber = z.string().meta({ example: '+15555550100' })
/** The other number of a conversation. */
export const contactNumber = z.string().meta({ example: '+15555550199' })

/** The fields of a page of a list, after its items. */
export const pageFields = {
  total: z.int().min(0).meta({ description: 'Items on all pages', example: 1 }),
  page: z.int().min(1).meta({ description: 'As used', example: 1 }),
  limit: z.int().min(1).meta({ description: 'As used', example: 20 }),
}
