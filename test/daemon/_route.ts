/** The parts of a contract that most routes of tests share. */
export const anyone = { summary: '', operationId: '', access: 'public' } as const
