import { errorTexts } from '../../core/errors.ts'
import { jsonAnswer } from '../../core/json-answer.ts'
import { MAX_MEDIA_BYTES } from '../../core/limits.ts'
import { MEDIA_TYPES } from '../../core/media-types.ts'
import { Done } from '../http/done.ts'
import { route } from '../http/route.ts'
import { deleteMedia } from './delete-media.ts'
import { getMedia } from './get-media.ts'
import { Media, MediaParams, UploadQuery, shownMedia } from './schemas.ts'
import { uploadMedia } from './upload-media.ts'

const common = { auth: 'app', tag: 'SMS' } as const

export const mediaRoutes = [
  route({
    ...common,
    operationId: 'uploadMedia',
    method: 'POST',
    path: '/v1/sms/media',
    summary: 'Upload a picture or another file to send',
    description:
      'The body is the file, `Content-Type` its type. Name the `mediaId` in `mediaIds` of a send. It is kept for 24 hours, and until 24 hours after the last message with it has ended. The same bytes, type and name have one `mediaId` (200 instead of 201). A body that brings less than 100 KB in 10 seconds gets a 408.',
    query: UploadQuery,
    takesFile: MEDIA_TYPES,
    maxBodyBytes: MAX_MEDIA_BYTES,
    mayWait: true,
    status: 201,
    response: Media,
    errors: {
      400: errorTexts('mediaEmpty'),
      408: errorTexts('slowBody'),
      409: errorTexts('mediaFull', 'tenantMediaFull'),
      415: errorTexts('unsupportedMedia'),
    },
    run: async ({ gateway, caller, query, request }) => {
      const { media, isNew } = await uploadMedia(gateway, caller, request, query.fileName)
      return isNew ? shownMedia(media) : jsonAnswer(shownMedia(media))
    },
  }),
  route({
    ...common,
    operationId: 'getMedia',
    method: 'GET',
    path: '/v1/sms/media/:mediaId',
    summary: 'One uploaded file, without its bytes',
    params: MediaParams,
    response: Media,
    errors: { 404: errorTexts('mediaNotFound') },
    run: ({ gateway, caller, params }) => getMedia(gateway, caller, params.mediaId),
  }),
  route({
    ...common,
    operationId: 'deleteMedia',
    method: 'DELETE',
    path: '/v1/sms/media/:mediaId',
    summary: 'Delete an uploaded file',
    description: 'Works even if messages carried it, once all of them have ended.',
    params: MediaParams,
    response: Done,
    errors: { 404: errorTexts('mediaNotFound'), 409: errorTexts('mediaInUse') },
    run: ({ gateway, caller, params }) => deleteMedia(gateway, caller, params.mediaId),
  }),
]
