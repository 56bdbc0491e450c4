/** The parameters of checks, and what else their tests have in common. */
import { now } from '../credentials/_people.ts'

export const did = (value: string) => ({ parameterType: 'DidParameter' as const, did: value })
/** An instant so many seconds after the credential of `_people.ts` was issued. */
export const at = (seconds: number) => ({
  parameterType: 'DateTimeParameter' as const,
  dateTime: new Date((now + seconds) * 1_000).toISOString(),
})

/** Where there is the description of a type, and no schema. */
export const typeUrl = 'https://agent.example/types/licence'
