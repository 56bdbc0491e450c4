/** Which events are meant. */
import * as Flags from '@oclif/core/flags'
import type { Event } from '../client/events.ts'

type Type = Event['type']

/** The types of events there are (service §6.2, and ours); the compiler misses one that is not here. */
const types: Record<Type, true> = {
  ConnectionUpdated: true,
  IssueCredentialRecordUpdated: true,
  PresentationUpdated: true,
  DIDStatusUpdated: true,
  DidRequestUpdated: true,
  AuthenticationChallengeUpdated: true,
}
export const eventTypes = Object.keys(types) as Type[]

/** Whose events are meant, where the administrator asks. */
export const walletFlag = Flags.string({
  description: 'as the administrator: events of this wallet, by its id',
})

/** What events can be told apart by. */
export const eventFlags = {
  type: Flags.option({ options: eventTypes, description: 'only events of this type' })(),
  thid: Flags.string({ description: 'only events about this DIDComm thread, or about this DID' }),
  wallet: walletFlag,
}
