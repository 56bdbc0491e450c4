/** One check of the doctor, its result and its time limit. */
import * as z from 'zod'
import { reasonOf } from '../../foundation/reason.ts'

export const Check = z
  .object({
    name: z.string(),
    status: z.enum(['ok', 'warning', 'failed']),
    detail: z.string().describe('The result, as a sentence.'),
    hint: z.string().optional().describe('The command or the step that fixes it.'),
  })
  .meta({ id: 'DoctorCheck' })
export type Check = z.infer<typeof Check>

export const Diagnosis = z.object({ checks: z.array(Check) }).meta({ id: 'DoctorDiagnosis' })
export type Diagnosis = z.infer<typeof Diagnosis>

export type Finding = Omit<Check, 'name'>

const hint = 'agent daemon logs'

/** Runs a check. One that throws, or takes longer than `limitMs`, has failed. */
export async function runCheck(name: string, check: () => Promise<Finding>, limitMs: number): Promise<Check> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<Finding>((resolve) => {
    timer = setTimeout(
      () =>
        resolve({ status: 'failed', detail: `There was no answer within ${formatDuration(limitMs)}.`, hint }),
      limitMs,
    )
  })
  try {
    return { name, ...(await Promise.race([check(), timeout])) }
  } catch (error) {
    return { name, status: 'failed', detail: reasonOf(error), hint }
  } finally {
    clearTimeout(timer)
  }
}

/** Runs checks side by side. `limitMs` gives the time limit of a check by its name. */
export async function runChecks(
  checks: Readonly<Record<string, () => Promise<Finding>>>,
  limitMs: (name: string) => number,
): Promise<Diagnosis> {
  const running = Object.entries(checks).map(([name, check]) => runCheck(name, check, limitMs(name)))
  return { checks: await Promise.all(running) }
}

const units = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1_000, 's'],
] as const

/** A duration in its largest unit, rounded down: `3 h`. */
export function formatDuration(ms: number): string {
  const [length, unit] = units.find(([length]) => ms >= length) ?? [1, 'ms']
  return `${Math.max(0, Math.floor(ms / length))} ${unit}`
}
