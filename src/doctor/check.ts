/** What an examination of the agent finds, and how long one thing may be looked at. */
import { z } from 'zod'
import { reasonOf } from '../base/reason.ts'

export const Check = z
  .object({
    name: z.string(),
    status: z.enum(['ok', 'warning', 'failed']),
    detail: z.string().describe('What was found, for a person.'),
    hint: z.string().optional().describe('The variable, the command or the step that mends it.'),
  })
  .meta({ id: 'DoctorCheck' })
export type Check = z.infer<typeof Check>

export const Diagnosis = z.object({ checks: z.array(Check) }).meta({ id: 'DoctorDiagnosis' })
export type Diagnosis = z.infer<typeof Diagnosis>

/** What one check finds. */
export type Finding = Omit<Check, 'name'>

/** Where more may stand about what nobody foresaw. */
const hint = 'agent daemon logs'

/** Runs a check: one that throws, or that takes longer than `limitMs`, has failed. */
export async function run(name: string, check: () => Promise<Finding>, limitMs: number): Promise<Check> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<Finding>((resolve) => {
    timer = setTimeout(
      () => resolve({ status: 'failed', detail: `There was no answer within ${lasting(limitMs)}.`, hint }),
      limitMs,
    )
  })
  try {
    return { name, ...(await Promise.race([check(), late])) }
  } catch (error) {
    return { name, status: 'failed', detail: reasonOf(error), hint }
  } finally {
    clearTimeout(timer)
  }
}

const units = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1_000, 's'],
] as const

/** A length of time, in milliseconds, as a person reads it: in its largest unit, rounded down. */
export function lasting(ms: number): string {
  const [length, unit] = units.find(([length]) => ms >= length) ?? [1, 'ms']
  return `${Math.max(0, Math.floor(ms / length))} ${unit}`
}
