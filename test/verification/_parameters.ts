/** The parameters of checks, and shared values of their tests. */
import { now } from '../credentials/_people.ts'

export const did = (value: string) => ({ parameterType: 'DidParameter' as const, did: value })
/** The credential's issuance (`_people.ts`) plus a number of seconds. */
export const at = (seconds: number) => ({
  parameterType: 'DateTimeParameter' as const,
  dateTime: new Date((now + seconds) * 1_000).toISOString(),
})

/** The description of a type without a schema. */
export const typeUrl = 'https://agent.example/types/licence'
