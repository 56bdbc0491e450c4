/**
 * The tables of a wallet's logs, of events and of messages, and of its webhooks. Columns are as in
 * `wallet-tables.ts`.
 */

export interface EventTables {
  /** The log of events, oldest first. */
  event: {
    sequence: number
    id: string
    type: string
    /** The thread or the DID that the event is about. */
    subject: string
    /** JSON: the REST resource at the time of the event. */
    data: string
    ts: string
  }

  /** Receivers of events, each with a cursor in the log. */
  webhook: {
    id: string
    url: string
    /** JSON of header names and values, sealed. */
    headers: string
    /** JSON of the signing secrets, the newest first, sealed; null when events are not signed. */
    secrets: string | null
    created_at: string
    /** The `sequence` of the last event that was delivered or abandoned. */
    cursor: number
    /** Failed attempts to deliver the event after the cursor. */
    attempts: number
    due_at: string
    /** The most events of a request, whose body is an array then; null for requests with one event. */
    batch: number | null
    /** The `sequence` of the last event of a request that failed and is made again. */
    retry_to: number | null
    /** The types of the events, each between commas, such as `,ConnectionUpdated,`; null for all. */
    types: string | null
    /** 1: it sends messages to people, and so gets the events with their secrets. */
    deliver: number
  }

  /**
   * Events that were abandoned after three attempts. Rows here and in the next two tables are deleted with
   * their webhook or event.
   */
  dead_letter: {
    webhook_id: string
    event_sequence: number
    /** The `sequence` of the last attempt. */
    attempt: number
  }

  /** Events to deliver again. They precede the event after the webhook's cursor. */
  redelivery: {
    webhook_id: string
    event_sequence: number
    /** Failed attempts since the replay was requested. */
    attempts: number
    due_at: string
  }

  /** Attempts to deliver events. */
  delivery_attempt: {
    sequence: number
    webhook_id: string
    /**
     * The `sequence` of the event. A test event is not in the log, and has that of the newest event, if there
     * is one.
     */
    event_sequence: number | null
    event_id: string
    event_type: string
    kind: 'automatic' | 'replay' | 'test'
    attempted_at: string
    duration_ms: number
    /** The HTTP status of the response; null when there was none. */
    status: number | null
    /** The reason of a failure; null when the event was delivered. */
    error: string | null
  }

  /** DIDComm messages that were received, sent or abandoned, without their content. Kept as long as events. */
  message_log: {
    sequence: number
    thread: string
    /** The id of the message. */
    id: string
    direction: 'sent' | 'received'
    outcome: 'taken' | 'refused' | 'given up'
    type: string
    /** The first characters of the two DIDs, enough to tell them apart. */
    from_did: string
    to_did: string
    /** When it arrived, or when the last attempt to send it began. */
    at: string
    /** Attempts to send it; null for a received message. */
    attempts: number | null
    /** The response time of the last attempt; null when there was no response. */
    duration_ms: number | null
    /** Why it was refused or abandoned; for a sent message, why the attempt before the last one failed. */
    failure: string | null
    /** The `sequence` of the last event before it. */
    event_sequence: number
  }
}
