// The feature MessageThreads of an account, which RingCentral's product calls Shared Inbox.

/** Which shared numbers use message threads instead of the store: those of call queues, and those of the company and its sites. */
export interface ThreadsFeature {
  ofQueues: boolean
  ofSites: boolean
}
