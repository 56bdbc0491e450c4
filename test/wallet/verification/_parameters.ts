/** Tables of checks, their parameters, and shared values of their tests. */
import type { VcVerificationName } from '../../../src/wallet/verification/model.ts'
import { now } from '../../credentials/codecs/_people.ts'

export const did = (value: string) => ({ parameterType: 'DidParameter' as const, did: value })
/** The credential's issuance (`_people.ts`) plus a number of seconds. */
export const at = (seconds: number) => ({
  parameterType: 'DateTimeParameter' as const,
  dateTime: new Date((now + seconds) * 1_000).toISOString(),
})

/** The description of a type without a schema. */
export const typeUrl = 'https://agent.example/types/licence'

/** A credential, with the parameter of the check if it has one, by what is special about it. */
type Cases = Record<string, string | [token: string, parameter: unknown]>

export type Row = [
  name: VcVerificationName,
  what: string,
  expected: boolean,
  token: string,
  parameter?: unknown,
]

/** Converts the cases of every check, those that pass it and those that fail it, to rows. */
export function toRows(cases: Partial<Record<VcVerificationName, { passes?: Cases; fails?: Cases }>>): Row[] {
  return Object.entries(cases).flatMap(([name, { passes = {}, fails = {} }]) =>
    [passes, fails].flatMap((group) =>
      Object.entries(group).map(
        ([what, given]) => [name, what, group === passes, ...[given].flat()] as unknown as Row,
      ),
    ),
  )
}
