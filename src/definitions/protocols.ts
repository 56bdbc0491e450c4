/** The definitions of all protocols that have records. Pure data: the command line imports it. */
import { connectionStates } from './connection.ts'
import { credentialStates } from './issue-credential.ts'
import { presentationStates } from './present-proof.ts'

export const definitions = [connectionStates, credentialStates, presentationStates] as const

/** The name of a record on the command line and in traces. */
export type RecordTopic = (typeof definitions)[number]['topic']
