// Allocations of the calling thread: this test program replaces the global operator new.
#pragma once

long allocations();
