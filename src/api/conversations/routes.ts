import { route } from '../http/route.ts'
import { listConversations } from './list-conversations.ts'
import { ConversationList, ConversationsQuery } from './schemas.ts'

export const conversationsRoutes = [
  route({
    operationId: 'listConversations',
    method: 'GET',
    path: '/v1/conversations',
    auth: 'app',
    tag: 'Conversations',
    summary: "The tenant's conversations, each with its newest message, by last activity",
    description:
      'A conversation is a pair of numbers. The very first call on a gateway reads all its messages, which takes about 4 s for a million.',
    query: ConversationsQuery,
    mayWait: true,
    response: ConversationList,
    run: ({ gateway, caller, query }) => listConversations(gateway, caller, query),
  }),
]
