// The feature MessageThreads of an account, which RingCentral's product calls Shared Inbox.

/** Which shared numbers have message threads in place of the store: those of call queues, those of the company and its sites. */
export interface ThreadsFeature {
  ofQueues: boolean
  ofSites: boolean
}
