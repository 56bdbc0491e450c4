/** What the demonstration can show, and the steps that each of it is made of. */
export const scenarios = {
  connect: ['connect'],
  issue: ['props', 'connect', 'issue'],
  present: ['props', 'connect', 'issue', 'present'],
  revoke: ['props', 'connect', 'issue', 'present', 'revoke'],
  onboard: ['onboard'],
  auth: ['onboard', 'auth'],
  all: ['props', 'connect', 'issue', 'present', 'revoke', 'onboard', 'auth'],
} as const satisfies Record<string, readonly string[]>

export type Scenario = keyof typeof scenarios
export type Step = 'props' | 'connect' | 'issue' | 'present' | 'revoke' | 'onboard' | 'auth'

/** The main job, which is shown when nothing else is asked for. */
export const usual: Scenario = 'present'

export function hasStep(scenario: Scenario, step: Step): boolean {
  return (scenarios[scenario] as readonly Step[]).includes(step)
}
