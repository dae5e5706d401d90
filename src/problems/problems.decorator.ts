/** Documents which problems a route may answer with, beside those that every route has. */

import { applyDecorators } from '@nestjs/common';
import { ApiResponse } from '@nestjs/swagger';
import { z } from 'zod';
import { type ProblemCode, problemCodes, toldCodes } from '../../domain/codes.js';

/** RFC 9457, with Parley's stable code. */
export const problemBody = z
  .strictObject({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    code: z.enum(toldCodes),
    detail: z.string().optional(),
    advice: z.string(),
    errors: z.array(z.strictObject({ pointer: z.string(), code: z.string(), message: z.string() })).optional(),
  })
  .meta({ id: 'Problem' });

export function Problems(...said: ProblemCode[]): MethodDecorator & ClassDecorator {
  const statuses = new Set(said.map((code) => problemCodes[code].status));
  return applyDecorators(
    ...[...statuses].map((status) => {
      const here = said.filter((code) => problemCodes[code].status === status);
      const description = here.map((code) => `\`${code}\`: ${problemCodes[code].title}.`).join(' ');
      return ApiResponse({
        status,
        description,
        content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
      });
    }),
  );
}
