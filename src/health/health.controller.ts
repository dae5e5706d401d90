import { Controller, Get, Res } from '@nestjs/common';
import { ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { z } from 'zod';
import { Public } from '../auth/decorators.js';
import { Readiness } from './readiness.js';

const Liveness = z.object({ status: z.literal('live') }).meta({ id: 'Liveness' });
const ReadinessBody = z
  .object({ status: z.enum(['starting', 'ready', 'stopping']), seen: z.object({ store: z.boolean(), temporal: z.boolean() }) })
  .meta({ id: 'Readiness' });

@Public()
@ApiTags('operations')
@Controller('health')
export class HealthController {
  constructor(private readonly readiness: Readiness) {}

  @Get('live')
  @ApiOperation({ summary: 'Whether the process runs' })
  @ApiResponse({ status: 200, standardSchema: Liveness })
  live(): z.infer<typeof Liveness> {
    return { status: 'live' };
  }

  @Get('ready')
  @ApiOperation({ summary: 'Whether requests should be sent here' })
  @ApiResponse({ status: 200, standardSchema: ReadinessBody })
  @ApiResponse({ status: 503, standardSchema: ReadinessBody, description: 'Starting or stopping' })
  ready(@Res({ passthrough: true }) response: Response): z.infer<typeof ReadinessBody> {
    const { state, seen } = this.readiness;
    response.status(state === 'ready' ? 200 : 503);
    return { status: state, seen };
  }
}
