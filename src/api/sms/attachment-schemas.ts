import { z } from 'zod'
import { MessageParams } from './schemas.ts'

const attachmentId = z.string().meta({ description: "The provider's id of the attachment", example: '3062991514017' })

export const AttachmentParams = MessageParams.extend({ attachmentId })

export const AttachmentList = z
  .object({
    attachments: z.array(
      z
        .object({
          attachmentId,
          contentType: z.string().meta({ description: 'As the provider says', example: 'image/jpeg' }),
          size: z.int().nullable().meta({ description: 'Bytes; null if the provider does not say', example: 461_020 }),
          fileName: z.string().nullable().meta({ description: 'Null if the provider does not say' }),
        })
        .meta({ id: 'Attachment' }),
    ),
  })
  .meta({ id: 'AttachmentList' })
export type AttachmentList = z.infer<typeof AttachmentList>
