import { expect } from 'vitest'

/** Matches a problem or a finding by its status and a part of its detail. */
export const withDetail = (status: number | string, part: string) => ({
  status,
  detail: expect.stringContaining(part),
})
