import { Module } from '@nestjs/common';
import { HeldCalls } from './held-calls.js';
import { HoldsController } from './holds.controller.js';
import { HoldsService } from './holds.service.js';

@Module({ controllers: [HoldsController], providers: [HeldCalls, HoldsService] })
export class HoldsModule {}
